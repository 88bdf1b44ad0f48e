// SPDX-License-Identifier: Apache-2.0
// Difference: the deviation of elements from the expected ones, in one tensor or in many samples.
//
//   Difference difference;
//   difference.Add(found, wanted, {.relative = 1e-5});
//   if (difference.elements_beyond > 0) …  // difference.at is the worst element
#ifndef KILN_TOOLS_JUDGE_DIFFERENCE_H_
#define KILN_TOOLS_JUDGE_DIFFERENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"

namespace kiln::tools {

// An element is within the tolerance if it is at most `steps` steps away, or if |found - wanted| <=
// absolute + relative * |wanted| and this difference is finite. NaN agrees with NaN.
struct Tolerance {
  double relative = 0, absolute = 0;
  uint64_t steps = 0;
};

// InvalidArgument, naming the option, for a negative, infinite or undefined tolerance.
absl::Status CheckTolerance(absl::string_view option, double tolerance);

// A step leads from one float to the next (ULP), or from one integer to the next. From a NaN to a
// number it is the largest number of steps. 0 and -0 are equal.
struct Difference {
  int64_t elements = 0;
  int64_t differing = 0;        // elements that are at least one step away
  int64_t elements_beyond = 0;  // elements that are not within the tolerance
  int64_t finite = 0;           // elements that are finite in both
  int64_t not_finite = 0;       // differing elements that are not finite in both
  // Numbers of the elements that are finite in both.
  double largest = 0;                                           // largest |found - wanted|
  double largest_wanted = 0;                                    // largest |wanted|
  uint64_t finite_steps = 0;                                    // most steps
  double sum = 0, square_sum = 0;                               // sums of |found - wanted|
  double dot = 0, found_square_sum = 0, wanted_square_sum = 0;  // of both as vectors
  // Steps of all elements.
  uint64_t largest_steps = 0;
  // Numbers of elements by steps: [0] is 0 steps, [k] is 2^(k-1) to 2^k - 1.
  std::vector<int64_t> histogram;
  // The first element that is not finite in both, or the first one with the largest difference.
  int64_t at = 0;
  double found = 0, wanted = 0;

  // Adds the elements of a tensor, whose indices follow those of the tensors before. Both have the
  // same number of elements. If their types differ, unequal elements are one step apart.
  void Add(const Tensor& found, const Tensor& wanted, const Tolerance& tolerance);

  // Mean and root mean square of |found - wanted|, without `not_finite` elements.
  double Mean() const;
  double Rms() const;
  // Returns the cosine of the angle between both as vectors: 1 if both are 0, and 0 if one is.
  double Cosine() const;
};

// Returns element i in row-major order: an integer, or a float with enough digits to be unique.
std::string ElementText(const Tensor& tensor, int64_t i);

// FailedPrecondition, with the number of elements that are not within the tolerance and the first
// of them. If the relative and the absolute tolerance are 0, the bits must be equal. Both tensors
// have the same type.
absl::Status CheckClose(const Tensor& found, const Tensor& wanted, const Tolerance& tolerance);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_DIFFERENCE_H_
