// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_FRONTEND_TFLITE_CONSTANT_H_
#define KILN_COMPILER_FRONTEND_TFLITE_CONSTANT_H_

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/frontend/tflite/model_file.h"

namespace kiln::tflite_frontend {

// The value of a tensor that has data; sparse ones are made dense. InvalidArgument where the data
// do not fit the type.
absl::StatusOr<Tensor> DecodeConstant(const TensorInfo& tensor);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_CONSTANT_H_
