// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/tensor_error.h"

#include <algorithm>
#include <limits>

namespace kiln::tools {
namespace {

// Relative slack for rounding errors in differences of real numbers that are multiples of a scale.
constexpr double kQuantaRounding = 1e-3;
constexpr uint64_t kMostUlp = std::numeric_limits<int64_t>::max();

}  // namespace

TensorError MeasureError(const Tensor& found, const Tensor& wanted, std::optional<double> scale) {
  TensorError error;
  error.Add(found, wanted, {});
  const DType dtype = found.type().dtype;
  if (scale.has_value()) {
    error.quanta = error.largest / *scale;
  } else if (dtype.is_float() && dtype == wanted.type().dtype) {
    error.ulp = static_cast<int64_t>(std::min(error.finite_steps, kMostUlp));
  }
  return error;
}

bool IsOff(const TensorError& error, const ErrorTolerance& tolerance) {
  if (error.not_finite > 0) return true;
  if (tolerance.cosine.has_value()) return error.Cosine() < *tolerance.cosine;
  if (error.quanta.has_value()) return *error.quanta > tolerance.quanta + kQuantaRounding;
  return error.largest > tolerance.absolute + tolerance.relative * error.largest_wanted;
}

}  // namespace kiln::tools
