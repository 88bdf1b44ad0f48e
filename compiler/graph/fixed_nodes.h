// SPDX-License-Identifier: Apache-2.0
// FixedNodes: finds the nodes and values of a graph that depend only on constants.
//
//   FixedNodes fixed(graph);
//   if (fixed.Contains(value)) …
//
// Nodes may be added to the graph while FixedNodes is in use. Nodes that it has already examined
// must not change.
#ifndef KILN_COMPILER_GRAPH_FIXED_NODES_H_
#define KILN_COMPILER_GRAPH_FIXED_NODES_H_

#include <functional>
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {

class FixedNodes {
 public:
  // `graph` must outlive this object. A node is fixed if all its inputs are fixed and, unless
  // `counts` is empty, counts(node) is true.
  explicit FixedNodes(const Graph& graph, std::function<bool(const Node&)> counts = {});

  // True if `value` is a constant or an output of a fixed node.
  bool Contains(ValueId value);
  bool ContainsNode(NodeId node);
  // Makes `node` not fixed. Nodes that read it and are added later are not fixed either.
  void Remove(NodeId node);

 private:
  bool IsFixed(ValueId value) const;
  // Examines the nodes added since the last call.
  void Update();

  const Graph& graph_;
  std::function<bool(const Node&)> counts_;
  std::vector<bool> fixed_;  // indexed by node
};

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_FIXED_NODES_H_
