// SPDX-License-Identifier: Apache-2.0
// Sums that may exceed int32. TFLite's kernels let them wrap around, so that a large positive sum
// becomes negative (docs/decisions/0051). Here such sums are int64. Most models do not need that,
// as constant weights limit the sums.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_WIDE_SUMS_H_
#define KILN_COMPILER_FRONTEND_TFLITE_WIDE_SUMS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/tflite/quantized.h"

namespace kiln::tflite_frontend {

// True if a sum of that magnitude may exceed int32.
inline bool BeyondInt32(double magnitude) { return magnitude >= 0x1p31; }

// Returns the largest |q - zero_point| of the numbers q of a dtype.
double LargestDifference(DType dtype, int64_t zero_point);

// Returns the largest possible magnitude of a sum of the product, including its bias.
absl::StatusOr<double> LargestSum(const Converter& c, const ProductOperands& p,
                                  const Quantization& x, const Quantization& weight);

// Like Rescaled (quantized.h), for sums. If they may exceed int32, they are int64, and `dtype` has
// at most 16 bits. Sums within int32 give the same bytes as int32 sums, whose factors have 31 bits.
// The others are rescaled as int64 sums, or saturated if the factors require it.
absl::StatusOr<ValueId> RescaledSums(Converter& c, ValueId sums, bool beyond_int32,
                                     const std::vector<double>& factors, int64_t zero_point,
                                     DType dtype);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_WIDE_SUMS_H_
