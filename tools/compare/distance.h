// SPDX-License-Identifier: Apache-2.0
// How far numbers and vectors are apart; for comparing tensors one by one and over many samples.
#ifndef KILN_TOOLS_COMPARE_DISTANCE_H_
#define KILN_TOOLS_COMPARE_DISTANCE_H_

#include <cstdint>

#include "compiler/base/tensor.h"

namespace kiln::tools {

// Steps between element `i` of two tensors of one type: from one float to the next (ULP), or from
// one integer to the next. The largest number there is between a NaN and a number. 0 and -0 are 0
// steps apart.
uint64_t StepsBetween(const Tensor& a, const Tensor& b, int64_t i);

// The cosine of the angle between two vectors, of which elements are added.
class Angle {
 public:
  void Add(double a, double b);
  // 1 where both are 0, and 0 where one is.
  double Cosine() const;

 private:
  double dot_ = 0, a_square_ = 0, b_square_ = 0;
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_COMPARE_DISTANCE_H_
