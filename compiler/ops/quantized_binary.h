// SPDX-License-Identifier: Apache-2.0
// What qnn.add, qnn.divide and their like have in common.
#ifndef KILN_COMPILER_OPS_QUANTIZED_BINARY_H_
#define KILN_COMPILER_OPS_QUANTIZED_BINARY_H_

#include "absl/status/statusor.h"
#include "compiler/ops/op_def.h"

namespace kiln {

// The operands, in this order.
enum QuantizedBinaryOperand {
  kLhs,
  kRhs,
  kLhsScale,
  kLhsZero,
  kRhsScale,
  kRhsZero,
  kOutScale,
  kOutZero
};

// Checks constraints 1 to 5: lhs is of quantized numbers, rhs too and of the same, shapes
// broadcast, scales and zero points are single ones. The type of the result.
absl::StatusOr<TensorType> CheckQuantizedBinary(const InferContext& c);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_QUANTIZED_BINARY_H_
