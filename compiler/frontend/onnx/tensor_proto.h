// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_FRONTEND_ONNX_TENSOR_PROTO_H_
#define KILN_COMPILER_FRONTEND_ONNX_TENSOR_PROTO_H_

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// Of types that tensors are only stored in (storage_types.h): that they are computed with as.
// Unimplemented for strings and complex numbers.
absl::StatusOr<DType> DTypeOf(int onnx_data_type);

// Where the data of a tensor of another file lie; empty if it says none.
std::string ExternalLocation(const onnx::TensorProto& proto);
// The path of that file. InvalidArgument if it is not inside `folder`, which is the model's.
absl::StatusOr<std::filesystem::path> ExternalFile(const std::string& location,
                                                   const std::string& folder);

// Decodes raw or typed data, or data of a file beside the model: `folder` is the model's; a
// location that leaves it is refused.
absl::StatusOr<Tensor> DecodeTensor(const onnx::TensorProto& proto, const std::string& folder);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_TENSOR_PROTO_H_
