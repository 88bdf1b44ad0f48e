// SPDX-License-Identifier: Apache-2.0
// Rounding to the numbers of a type that tensors are stored in.
#ifndef KILN_COMPILER_FRONTEND_ONNX_ROUND_TO_H_
#define KILN_COMPILER_FRONTEND_ONNX_ROUND_TO_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/storage_types.h"

namespace kiln::onnx_frontend {

// The numbers of the type that are nearest to `x`, halves to even; integers of more bits wrap around
// as ONNX's Cast has it. Beyond the largest number: that, where `saturate` is set, else infinity or
// NaN.
absl::StatusOr<ValueId> RoundTo(const StorageType& type, ValueId x, bool saturate, Converter& c);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_ROUND_TO_H_
