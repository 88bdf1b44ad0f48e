// SPDX-License-Identifier: Apache-2.0
// The named tensors of a graph.
//
//   const std::vector<NamedValue> kept = KeptValues(graph, fused);
//   Graph more = WithOutputs(graph, kept);   // the same model with these values as outputs
//
// Front ends name the values of an imported graph. Passes do not keep all of these names, but every
// node records its origin (SourceLocation).
#ifndef KILN_TOOLS_JUDGE_NAMED_VALUES_H_
#define KILN_TOOLS_JUDGE_NAMED_VALUES_H_

#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln::tools {

struct NamedValue {
  std::string name;
  ValueId value = kNoId;
  // Node of the model that computes it; may be empty. For KeptValues, all nodes that are fused into
  // its computation: "conv1 relu1".
  std::string layer;
};

// Returns the values that nodes of an imported graph compute, in the order of the nodes. An output
// has the model's name of the output. A name that several values share is left out.
std::vector<NamedValue> NamedValues(const Graph& graph);

// Returns those values of NamedValues that the compiled model keeps in memory, including the
// outputs. `fused` is the graph after all passes.
std::vector<NamedValue> KeptValues(const Graph& graph, const Graph& fused);

// Returns the graph with these values as its outputs, in this order.
Graph WithOutputs(Graph graph, const std::vector<NamedValue>& values);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_NAMED_VALUES_H_
