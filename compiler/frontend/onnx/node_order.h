// SPDX-License-Identifier: Apache-2.0
// Nodes of a graph should stand behind those that make what they read. Tools that rewrite models
// forget what the bodies of control flow read, and ONNX Runtime sorts the nodes of a model that it
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
  // Each behind those whose outputs it or its bodies read, and as they are otherwise.
  std::vector<int> sorted;
  // Those that wait for their own outputs, and those behind them.
  std::vector<int> circle;
};

// What `is_known` names is there before the first node.
NodeOrder OrderOf(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                  const std::function<bool(const std::string&)>& is_known);

// Adds what the bodies of a node read of the graph that the node is in.
void AddNamesReadByBodies(const onnx::NodeProto& node, std::set<std::string>& names);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_NODE_ORDER_H_
