// SPDX-License-Identifier: Apache-2.0
// What TFLite's softmax kernels of numbers of 8 bits share: how far a number is below the largest
// one of its row, and the exponential of that.
#ifndef KILN_COMPILER_OPS_QUANTIZED_SOFTMAX_H_
#define KILN_COMPILER_OPS_QUANTIZED_SOFTMAX_H_

#include <cstdint>

#include "compiler/base/tensor.h"
#include "compiler/ops/fixed_point.h"

namespace kiln {

// Of differences to the largest number, and of sums of exponentials.
inline constexpr int kDifferenceIntegerBits = 5, kSumIntegerBits = 12;

// By n = 0 … 255, how much a number is below the largest one.
struct SoftmaxTables {
  FixedPointFactor factor;
  int64_t radius;       // the largest n that the integer bits hold
  Tensor rescaled;      // -scale * n with kDifferenceIntegerBits; 0 beyond the radius
  Tensor exponentials;  // exp(-scale * n) with no integer bits; 0 beyond the radius
};
SoftmaxTables MakeSoftmaxTables(double scale);
// The least scale that they are made of.
double LeastSoftmaxScale();

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_QUANTIZED_SOFTMAX_H_
