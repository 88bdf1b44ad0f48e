// SPDX-License-Identifier: Apache-2.0
// Nodes of a graph should stand behind those that make what they read. Tools that rewrite models
// forget what the bodies of control flow read, and ONNX Runtime sorts whatever it loads.
#ifndef KILN_COMPILER_FRONTEND_ONNX_NODE_ORDER_H_
#define KILN_COMPILER_FRONTEND_ONNX_NODE_ORDER_H_

#include <functional>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// The indices of all nodes, each behind those whose outputs it or its bodies read, and as they are
// otherwise; those that read one another in a circle come last. What `is_known` names is there
// before the first node.
std::vector<int> NodeOrder(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                           const std::function<bool(const std::string&)>& is_known);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_NODE_ORDER_H_
