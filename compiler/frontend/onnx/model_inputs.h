// SPDX-License-Identifier: Apache-2.0
// The types of a model's inputs: what the file says, and the user's options (import.h) in the place
// of what it leaves open.
#ifndef KILN_COMPILER_FRONTEND_ONNX_MODEL_INPUTS_H_
#define KILN_COMPILER_FRONTEND_ONNX_MODEL_INPUTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/frontend/onnx/import.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// InvalidArgument if an option is about an input that the graph does not have.
absl::Status CheckOptions(const onnx::GraphProto& graph, const ImportOptions& options);

// InvalidArgument for a dimension below -1. Exporters write -1 for one that is open.
absl::Status CheckDimensions(const onnx::TensorShapeProto& shape);

// Errors begin with "input 'x': ". Unimplemented for what is no tensor, InvalidArgument for
// dimensions that are open, and for options that do not fit.
absl::StatusOr<TensorType> InputType(const onnx::ValueInfoProto& input,
                                     const ImportOptions& options);

// The inputs, without initializers, and the outputs of a model.
ModelInterface InterfaceOf(const onnx::GraphProto& graph);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_MODEL_INPUTS_H_
