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

#include "compiler/base/tensor.h"
#include "tools/judge/difference.h"

namespace kiln::tools {

struct TensorError : Difference {
  std::optional<int64_t> ulp;    // most floats between two values, if both have one float type.
  std::optional<double> quanta;  // `largest` in steps of the quantized tensor, if one is.
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
