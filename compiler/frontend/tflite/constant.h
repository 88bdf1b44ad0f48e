// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_FRONTEND_TFLITE_CONSTANT_H_
#define KILN_COMPILER_FRONTEND_TFLITE_CONSTANT_H_

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/frontend/tflite/model_file.h"

namespace kiln::tflite_frontend {

// Returns the value of a tensor with data. A sparse tensor is made dense. InvalidArgument if the
// data does not fit the type.
absl::StatusOr<Tensor> DecodeConstant(const TensorInfo& tensor);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_CONSTANT_H_
