// SPDX-License-Identifier: Apache-2.0
// Cuts a model off at values inside of it, so that the operators after them are removed.
#ifndef KILN_COMPILER_FRONTEND_ONNX_END_AT_H_
#define KILN_COMPILER_FRONTEND_ONNX_END_AT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// Makes the values of these names the graph's outputs, in this order, and removes the nodes, inputs
// and initializers that they do not need. The name of a node stands for all its outputs.
// InvalidArgument with the nearest names if a name is neither a value nor a node.
absl::Status EndAt(const std::vector<std::string>& names, onnx::GraphProto& graph);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_END_AT_H_
