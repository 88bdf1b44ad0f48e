// SPDX-License-Identifier: Apache-2.0
// State: an input and an output of a model that are the same tensor over time. The output of a run
// is the input of the next run. For the first run, all elements of the input have one initial
// value.
//
//   KILN_RETURN_IF_ERROR(DeclareState("h=h_out", graph));    // --state h=h_out
//   KILN_ASSIGN_OR_RETURN(const std::vector<StatePair> states, StatesOf(graph));
//
// A graph stores state in attributes of @main, which frontends set too:
//
//   state_inputs=["h"], state_outputs=["h_out"], state_initial=[0f]
#ifndef KILN_COMPILER_GRAPH_STATE_H_
#define KILN_COMPILER_GRAPH_STATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"

namespace kiln {

struct StatePair {
  int input = 0, output = 0;  // indices into the graph's inputs and outputs
  double initial = 0;         // value of every element
};

// Returns the pairs in the order of the attributes. InvalidArgument if a name is unknown, if a name
// occurs in two pairs, or if both types of a pair are known and differ.
absl::StatusOr<std::vector<StatePair>> StatesOf(const Graph& graph);

// Adds the pair "input=output" with initial value 0. InvalidArgument as for StatesOf.
absl::Status DeclareState(absl::string_view pair, Graph& graph);

// Adds a pair to the attributes without checks.
void AddState(std::string input, std::string output, double initial, Graph& graph);

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_STATE_H_
