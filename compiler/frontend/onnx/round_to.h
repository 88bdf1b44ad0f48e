// SPDX-License-Identifier: Apache-2.0
// Rounding to the values of a storage type.
#ifndef KILN_COMPILER_FRONTEND_ONNX_ROUND_TO_H_
#define KILN_COMPILER_FRONTEND_ONNX_ROUND_TO_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/storage_types.h"

namespace kiln::onnx_frontend {

// Rounds `x` to the nearest values of the type, halves to even. Integers with more bits wrap
// around, as in ONNX's Cast. Values beyond the largest become the largest if `saturate` is set,
// else infinity or NaN.
absl::StatusOr<ValueId> RoundTo(const StorageType& type, ValueId x, bool saturate, Converter& c);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_ROUND_TO_H_
