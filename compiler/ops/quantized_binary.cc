// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/quantized_binary.h"

#include "compiler/ops/broadcast.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/quantized.h"

namespace kiln {

absl::StatusOr<TensorType> CheckQuantizedBinary(const InferContext& c) {
  const TensorType &lhs = c.inputs[kLhs], &rhs = c.inputs[kRhs];
  KILN_RETURN_IF_ERROR(CheckQuantized(lhs.dtype, 1));
  KILN_CONSTRAINT(2, lhs.dtype == rhs.dtype,
                  absl::StrCat(lhs.dtype.ToString(), " and ", rhs.dtype.ToString()), "one dtype");
  KILN_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(lhs.shape, rhs.shape, 3));
  for (size_t k : {kLhsScale, kRhsScale, kResultScale}) {
    KILN_RETURN_IF_ERROR(CheckScale(c, k, 1, Known::kAtCompileTime, 4));
  }
  for (size_t k : {kLhsZero, kRhsZero, kResultZero})
    KILN_RETURN_IF_ERROR(CheckZeroPoint(c, k, 1, 5));
  return TensorType{std::move(shape), lhs.dtype};
}

}  // namespace kiln
