// SPDX-License-Identifier: Apache-2.0
// Distances of numbers and of vectors, to compare single tensors and many samples.
#ifndef KILN_TOOLS_JUDGE_DISTANCE_H_
#define KILN_TOOLS_JUDGE_DISTANCE_H_

#include <cstdint>

#include "compiler/base/tensor.h"

namespace kiln::tools {

// Returns the steps between element `i` of two tensors of one type. A step leads from one float to
// the next (ULP), or from one integer to the next. The distance of a NaN and a number is the
// largest uint64_t. 0 and -0 are 0 steps apart.
uint64_t StepsBetween(const Tensor& a, const Tensor& b, int64_t i);

// Computes the cosine of the angle between two vectors, whose elements are added one by one.
class Angle {
 public:
  void Add(double a, double b);
  // Returns 1 if both vectors are 0, and 0 if one is.
  double Cosine() const;

 private:
  double dot_ = 0, a_square_ = 0, b_square_ = 0;
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_DISTANCE_H_
