// SPDX-License-Identifier: Apache-2.0
// Sums of two quantized 8-bit numbers in 32-bit arithmetic with one rounding.
//
// TFLite's kernels multiply and round three times for such a sum, and ONNX divides floats. Both are
// functions of 65,536 pairs that are nearly linear. If integer factors give exactly the same
// values, two multiply-adds, a shift and clamping suffice.
#ifndef KILN_COMPILER_OPS_SUM_OF_BYTES_H_
#define KILN_COMPILER_OPS_SUM_OF_BYTES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/dtype.h"
#include "compiler/loop/expr.h"

namespace kiln {

// The linear function a * lhs + b * rhs + constant.
struct LinearFactors {
  double lhs, rhs, constant;
};

// (a * lhs + b * rhs + constant) >> shift; no part of it leaves int32.
struct SumOfBytes {
  int32_t lhs, rhs, constant;
  int shift;
};

// Returns value(a, b) for all pairs of numbers of `dtype`, which must have 8 bits, in row-major
// order of [a - lowest, b - lowest]. `value` must have this dtype and read only a and b.
absl::StatusOr<std::vector<int64_t>> ValuesOfPairs(
    DType dtype, const std::function<loop::Expr(const loop::Expr& a, const loop::Expr& b)>& value);

// Returns the sum that, saturated to `dtype`, equals `values` for every pair, in the order
// of ValuesOfPairs. Its multipliers are near the rounded `factors`. Nothing if no
// multipliers near them do.
std::optional<SumOfBytes> FitSumOfBytes(DType dtype, const LinearFactors& factors,
                                        const std::vector<int64_t>& values);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_SUM_OF_BYTES_H_
