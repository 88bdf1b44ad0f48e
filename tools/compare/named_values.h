// SPDX-License-Identifier: Apache-2.0
// The tensors of a graph by the names that its model gives them.
//
//   const std::vector<NamedValue> kept = KeptValues(graph, fused);
//   Graph more = WithOutputs(graph, kept);   // the same model, which also shows these
//
// Front ends name the values of the graph that they make; passes do not keep all of these names,
// but every node says where it comes from (SourceLocation).
#ifndef KILN_TOOLS_COMPARE_NAMED_VALUES_H_
#define KILN_TOOLS_COMPARE_NAMED_VALUES_H_

#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln::tools {

struct NamedValue {
  std::string name;
  ValueId value = kNoId;
  std::string layer;  // the node of the model that makes it; may be empty. Of KeptValues all that
                      // are fused into its computation: "conv1 relu1"
};

// What nodes of an imported graph make, by name, in the order of the nodes. An output is called as
// the model calls its output. A name that stands for several values is left out.
std::vector<NamedValue> NamedValues(const Graph& graph);

// Those of them that the compiled model has in memory: `fused` is what the passes made of `graph`.
// The outputs are among them.
std::vector<NamedValue> KeptValues(const Graph& graph, const Graph& fused);

// The graph with these values as its outputs, in this order.
Graph WithOutputs(Graph graph, const std::vector<NamedValue>& values);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_COMPARE_NAMED_VALUES_H_
