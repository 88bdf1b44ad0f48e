// SPDX-License-Identifier: Apache-2.0
// The types of a model's inputs: the declarations in the file, with the user's options (import.h)
// for anything that it leaves open.
#ifndef KILN_COMPILER_FRONTEND_ONNX_MODEL_INPUTS_H_
#define KILN_COMPILER_FRONTEND_ONNX_MODEL_INPUTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/frontend/onnx/import.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// InvalidArgument if an option names an input that the graph does not have.
absl::Status CheckOptions(const onnx::GraphProto& graph, const ImportOptions& options);

// InvalidArgument for a dimension below -1. Exporters write -1 for an open one.
absl::Status CheckDimensions(const onnx::TensorShapeProto& shape);

// Returns the type of an input. Errors begin with "input 'x': ". Unimplemented if it is not a
// tensor. InvalidArgument if dimensions stay open or options do not fit.
absl::StatusOr<TensorType> InputType(const onnx::ValueInfoProto& input,
                                     const ImportOptions& options);

// Returns the inputs of a model, without initializers, and its outputs.
ModelInterface InterfaceOf(const onnx::GraphProto& graph);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_MODEL_INPUTS_H_
