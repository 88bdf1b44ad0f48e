// SPDX-License-Identifier: Apache-2.0
// TensorError: how far a tensor is from what it should be, in a few numbers.
//
//   const TensorError error = MeasureError(found, wanted, /*scale=*/0.05);
//   error.largest   // in the tensor's own unit
//   error.quanta    // the same in steps of the quantised tensor
#ifndef KILN_TOOLS_COMPARE_TENSOR_ERROR_H_
#define KILN_TOOLS_COMPARE_TENSOR_ERROR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/base/tensor.h"

namespace kiln::tools {

struct TensorError {
  int64_t elements = 0;
  int64_t differing = 0;         // elements with another value; NaN is equal to NaN
  int64_t not_finite = 0;        // elements that are NaN or infinite in one tensor and not in both
  double largest = 0;            // |found - wanted|, of the elements that are finite in both
  double mean = 0;               // likewise
  double largest_wanted = 0;     // |wanted|
  double cosine = 1;             // of the angle between both as vectors; 1 where both are 0
  std::optional<int64_t> ulp;    // most floats between two values, where both are of one float type
  std::optional<double> quanta;  // `largest` in steps of the quantised tensor, if one is
  // The element with the largest difference, in row-major order.
  int64_t at = 0;
  double found = 0, wanted = 0;
};

// Both have equally many elements. `scale` is the real number that one step of a quantised tensor
// stands for; the values are then real numbers.
TensorError MeasureError(const Tensor& found, const Tensor& wanted, std::optional<double> scale);

// When a tensor counts as off. A number that is finite in one tensor alone is always off.
struct ErrorTolerance {
  double relative = 1e-4;  // of the largest |wanted|
  double absolute = 1e-6;
  double quanta = 0;             // of quantised tensors, in the place of the two above
  std::optional<double> cosine;  // the least, in the place of all others
};

bool IsOff(const TensorError& error, const ErrorTolerance& tolerance);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_COMPARE_TENSOR_ERROR_H_
