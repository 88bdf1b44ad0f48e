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
//   return std::move(rewriter).Finish();   // what nothing reads is left out
#ifndef KILN_COMPILER_GRAPH_REWRITE_H_
#define KILN_COMPILER_GRAPH_REWRITE_H_

#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {

class GraphRewriter {
 public:
  // Inputs are taken over at once; constants when they are first asked for. `old_graph` must
  // outlive the rewriter.
  explicit GraphRewriter(const Graph& old_graph);

  Graph& graph() { return new_graph_; }
  // The new value for an old one; it must have been copied or replaced before, if it is a node's
  // output.
  ValueId Map(ValueId old_value);
  // Copies a node with its types; its inputs are mapped.
  NodeId Copy(NodeId old_node);
  // Says that `new_value` takes the place of `old_value`.
  void Replace(ValueId old_value, ValueId new_value);
  // Maps the outputs, takes over names and attributes, and leaves out nodes and constants that no
  // output needs. All inputs stay.
  Graph Finish() &&;

 private:
  friend Graph RemoveDeadNodes(const Graph& graph);
  // Finish without leaving anything out.
  Graph Assemble() &&;

  const Graph& old_graph_;
  Graph new_graph_;
  std::vector<ValueId> new_ids_;
};

// A copy without nodes and constants that no output needs.
Graph RemoveDeadNodes(const Graph& graph);

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_REWRITE_H_
