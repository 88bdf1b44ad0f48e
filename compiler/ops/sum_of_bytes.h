// SPDX-License-Identifier: Apache-2.0
// Sums of two quantized numbers of 8 bits in 32-bit arithmetic with one rounding.
//
// TFLite's kernels multiply and round three times for such a sum, ONNX divides floats. Either is a
// function of 65,536 pairs, and close to a linear one; where some integers give just these values,
// two multiply-adds, a shift and the bounds do.
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

// a * lhs + b * rhs + constant.
struct LinearFactors {
  double lhs, rhs, constant;
};

// (a * lhs + b * rhs + constant) >> shift; no part of it leaves int32.
struct SumOfBytes {
  int32_t lhs, rhs, constant;
  int shift;
};

// value(a, b) of all pairs of numbers of `dtype`, which has 8 bits: [a - lowest, b - lowest].
// `value` is of `dtype`, and reads nothing but a and b.
absl::StatusOr<std::vector<int64_t>> ValuesOfPairs(
    DType dtype, const std::function<loop::Expr(const loop::Expr& a, const loop::Expr& b)>& value);

// The sum that is `values`, as ValuesOfPairs gives them, for every pair once it is saturated to
// `dtype`. They are near `factors`, rounded. Nothing if there is none among those next to the
// factors.
std::optional<SumOfBytes> FitSumOfBytes(DType dtype, const LinearFactors& factors,
                                        const std::vector<int64_t>& values);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_SUM_OF_BYTES_H_
