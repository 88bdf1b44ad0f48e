// SPDX-License-Identifier: Apache-2.0
// A model that ends early: at values inside of it, so that what comes behind is not there.
#ifndef KILN_COMPILER_FRONTEND_ONNX_END_AT_H_
#define KILN_COMPILER_FRONTEND_ONNX_END_AT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// Makes the values of these names the graph's outputs, in this order, and removes the nodes, inputs
// and initializers that they do not need. The name of a node stands for its outputs. InvalidArgument, with the nearest
// names, for a name of neither.
absl::Status EndAt(const std::vector<std::string>& names, onnx::GraphProto& graph);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_END_AT_H_
