// SPDX-License-Identifier: Apache-2.0
// FixedNodes: which nodes and values of a graph depend on constants alone.
//
//   FixedNodes fixed(graph);
//   if (fixed.Contains(value)) …
//
// Nodes may be added to the graph while it is used; those that it knows must stay as they are.
#ifndef KILN_COMPILER_GRAPH_FIXED_NODES_H_
#define KILN_COMPILER_GRAPH_FIXED_NODES_H_

#include <functional>
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {

class FixedNodes {
 public:
  // `graph` must outlive it. A node for which `counts` is false is not fixed, nor is what is made
  // of it; without `counts` only inputs matter.
  explicit FixedNodes(const Graph& graph, std::function<bool(const Node&)> counts = {});

  // Whether `value` is a constant, or an output of a node that is fixed.
  bool Contains(ValueId value);
  bool ContainsNode(NodeId node);
  // From now on `node` is not fixed, nor are nodes made of it that are added later.
  void Remove(NodeId node);

 private:
  bool IsFixed(ValueId value) const;
  // Looks at nodes that are new.
  void Update();

  const Graph& graph_;
  std::function<bool(const Node&)> counts_;
  std::vector<bool> fixed_;  // by node
};

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_FIXED_NODES_H_
