// SPDX-License-Identifier: Apache-2.0
// Sums that int32 may not hold. TFLite's kernels let them wrap around, so that a large positive sum
// becomes a negative number; docs/decisions/0051. Here such sums are int64. Most models need none of
// it: constant weights say how large a sum can become.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_WIDE_SUMS_H_
#define KILN_COMPILER_FRONTEND_TFLITE_WIDE_SUMS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/tflite/quantized.h"

namespace kiln::tflite_frontend {

// True if a sum of that magnitude may be beyond int32.
inline bool BeyondInt32(double magnitude) { return magnitude >= 0x1p31; }

// The largest |q - zero_point| of the numbers q of a dtype.
double LargestDifference(DType dtype, int64_t zero_point);

// The largest magnitude that a sum of the product can have, with its bias.
absl::StatusOr<double> LargestSum(const Converter& c, const ProductOperands& p,
                                  const Quantization& x, const Quantization& weight);

// Rescaled (quantized.h) of sums. If they may be beyond int32, they are int64 and `dtype` has up to 16
// bits: the sums that int32 holds give the bytes of int32 sums, whose factors have 31 bits; the others
// are rescaled as int64 sums, or saturated if the factors say that they must be.
absl::StatusOr<ValueId> RescaledSums(Converter& c, ValueId sums, bool beyond_int32,
                                     const std::vector<double>& factors, int64_t zero_point,
                                     DType dtype);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_WIDE_SUMS_H_
