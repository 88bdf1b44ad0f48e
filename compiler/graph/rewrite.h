// SPDX-License-Identifier: Apache-2.0
// GraphRewriter: builds a new graph from an old one, node by node. Every pass is written with it.
//
//   GraphRewriter rewriter(old);
//   for (NodeId id = 0; id < old.nodes.size(); ++id) {
//     if (old.node(id) is something to replace) {
//       rewriter.Replace(old.node(id).outputs[0], rewriter.graph().AddConstant(…));
//     } else {
//       rewriter.Copy(id);
//     }
//   }
//   return std::move(rewriter).Finish();   // omits unused nodes and constants
#ifndef KILN_COMPILER_GRAPH_REWRITE_H_
#define KILN_COMPILER_GRAPH_REWRITE_H_

#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {

class GraphRewriter {
 public:
  // Copies the inputs at once. Constants are copied when they are first mapped. `old_graph` must
  // outlive the rewriter.
  explicit GraphRewriter(const Graph& old_graph);

  Graph& graph() { return new_graph_; }
  // Returns the new value for an old one. The output of a node must have been copied or replaced
  // before.
  ValueId Map(ValueId old_value);
  // Copies a node with its types. Its inputs are mapped.
  NodeId Copy(NodeId old_node);
  // Makes `new_value` take the place of `old_value`.
  void Replace(ValueId old_value, ValueId new_value);
  // Maps the outputs and copies output names and attributes. Drops nodes and constants that no
  // output needs. All inputs stay.
  Graph Finish() &&;

 private:
  friend Graph RemoveDeadNodes(const Graph& graph);
  // Like Finish, but drops nothing.
  Graph Assemble() &&;

  const Graph& old_graph_;
  Graph new_graph_;
  std::vector<ValueId> new_ids_;
};

// Returns a copy without nodes and constants that no output needs.
Graph RemoveDeadNodes(const Graph& graph);

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_REWRITE_H_
