// SPDX-License-Identifier: Apache-2.0
// Tables that TFLite's softmax kernels of 8-bit numbers share. They are indexed by the distance of
// a number to the largest one of its row.
#ifndef KILN_COMPILER_OPS_QUANTIZED_SOFTMAX_H_
#define KILN_COMPILER_OPS_QUANTIZED_SOFTMAX_H_

#include <cstdint>

#include "compiler/base/tensor.h"
#include "compiler/ops/fixed_point.h"

namespace kiln {

// Integer bits of differences to the largest number, and of sums of exponentials.
inline constexpr int kDifferenceIntegerBits = 5, kSumIntegerBits = 12;

// Tables indexed by n = 0 … 255, the largest number minus a number.
struct SoftmaxTables {
  FixedPointFactor factor;
  int64_t radius;       // the largest n that the integer bits hold
  Tensor rescaled;      // -scale * n with kDifferenceIntegerBits; 0 beyond the radius
  Tensor exponentials;  // exp(-scale * n) with no integer bits; 0 beyond the radius
};
SoftmaxTables MakeSoftmaxTables(double scale);
// The least scale that MakeSoftmaxTables supports.
double LeastSoftmaxScale();

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_QUANTIZED_SOFTMAX_H_
