// SPDX-License-Identifier: Apache-2.0
// Topological order of a graph's nodes. ONNX requires it, but tools that rewrite models forget the
// values that bodies of control flow read. ONNX Runtime also sorts the nodes of a model that it
// loads.
#ifndef KILN_COMPILER_FRONTEND_ONNX_NODE_ORDER_H_
#define KILN_COMPILER_FRONTEND_ONNX_NODE_ORDER_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// Indices of nodes.
struct NodeOrder {
  // Each node comes after the nodes whose outputs it or its bodies read. Otherwise the order is
  // kept.
  std::vector<int> sorted;
  // Nodes that depend on their own outputs, and nodes that depend on these.
  std::vector<int> circle;
};

// `is_known` returns true for names that are defined before the first node.
NodeOrder OrderOf(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                  const std::function<bool(const std::string&)>& is_known);

// Adds the values of the outer graph that the bodies of a node read.
void AddNamesReadByBodies(const onnx::NodeProto& node, std::set<std::string>& names);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_NODE_ORDER_H_
