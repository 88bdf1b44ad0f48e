// SPDX-License-Identifier: Apache-2.0
// TensorError: the deviation of a tensor from the expected one, in a few numbers.
//
//   const TensorError error = MeasureError(found, wanted, /*scale=*/0.05);
//   error.largest   // in the tensor's own unit
//   error.quanta    // the same in steps of the quantized tensor
#ifndef KILN_TOOLS_JUDGE_TENSOR_ERROR_H_
#define KILN_TOOLS_JUDGE_TENSOR_ERROR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/base/tensor.h"

namespace kiln::tools {

struct TensorError {
  int64_t elements = 0;
  int64_t differing = 0;         // elements with different values; NaN equals NaN.
  int64_t not_finite = 0;        // elements that are NaN or infinite in only one tensor.
  double largest = 0;            // largest |found - wanted| of elements that are finite in both.
  double mean = 0;               // mean of the same.
  double largest_wanted = 0;     // largest |wanted|.
  double cosine = 1;             // of the angle between both as vectors; 1 if both are 0.
  std::optional<int64_t> ulp;    // most floats between two values, if both have one float type.
  std::optional<double> quanta;  // `largest` in steps of the quantized tensor, if one is.
  // The element with the largest difference, in row-major order.
  int64_t at = 0;
  double found = 0, wanted = 0;
};

// Both tensors have the same number of elements. `scale` is the real number that one step of a
// quantized tensor represents. The values are then real numbers.
TensorError MeasureError(const Tensor& found, const Tensor& wanted, std::optional<double> scale);

// Limits beyond which a tensor is off. A number that is finite in only one tensor is always off.
struct ErrorTolerance {
  double relative = 1e-4;  // relative to the largest |wanted|
  double absolute = 1e-6;
  double quanta = 0;             // for quantized tensors, instead of the two above
  std::optional<double> cosine;  // minimum; if set, it replaces all others
};

bool IsOff(const TensorError& error, const ErrorTolerance& tolerance);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_TENSOR_ERROR_H_
