// SPDX-License-Identifier: Apache-2.0
// State: an input and an output of a model that are one tensor over time. What a run leaves in the
// output, the next run finds in the input; the first one finds one number in all elements.
//
//   KILN_RETURN_IF_ERROR(DeclareState("h=h_out", graph));    // --state h=h_out
//   KILN_ASSIGN_OR_RETURN(const std::vector<StatePair> states, StatesOf(graph));
//
// A graph has it as attributes of @main, which front ends set too:
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
  int input = 0, output = 0;  // of the graph's inputs and outputs
  double initial = 0;         // of every element
};

// In the order of the attributes. InvalidArgument for a name that the graph has not or that stands
// in two pairs, and, where both types are known, for a pair of different types.
absl::StatusOr<std::vector<StatePair>> StatesOf(const Graph& graph);

// Adds the pair "input=output", which is 0 at first. InvalidArgument as above.
absl::Status DeclareState(absl::string_view pair, Graph& graph);

// Adds a pair to the attributes, unchecked.
void AddState(std::string input, std::string output, double initial, Graph& graph);

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_STATE_H_
