// SPDX-License-Identifier: Apache-2.0
// Operands and checks of qnn.add, qnn.divide and similar operators.
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
  kResultScale,
  kResultZero
};

// Checks constraints 1 to 5: lhs holds quantized numbers, rhs has the same dtype, shapes broadcast,
// scales and zero points have one element. Returns the type of the result.
absl::StatusOr<TensorType> CheckQuantizedBinary(const InferContext& c);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_QUANTIZED_BINARY_H_
