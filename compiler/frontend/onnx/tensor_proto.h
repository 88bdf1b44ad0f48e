// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_FRONTEND_ONNX_TENSOR_PROTO_H_
#define KILN_COMPILER_FRONTEND_ONNX_TENSOR_PROTO_H_

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// Returns the dtype. For a type that tensors are only stored in (storage_types.h), it is the type
// for computation. Unimplemented for strings and complex numbers.
absl::StatusOr<DType> DTypeOf(int onnx_data_type);

// Returns the location of a tensor's data in another file. Empty if it has none.
std::string ExternalLocation(const onnx::TensorProto& proto);
// Returns the path of that file. InvalidArgument if it is outside `folder`, the folder of the
// model.
absl::StatusOr<std::filesystem::path> ExternalFile(const std::string& location,
                                                   const std::string& folder);

// Decodes raw data, typed data, or data of a file next to the model. `folder` is the folder of the
// model. A location outside of it is refused.
absl::StatusOr<Tensor> DecodeTensor(const onnx::TensorProto& proto, const std::string& folder);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_TENSOR_PROTO_H_
