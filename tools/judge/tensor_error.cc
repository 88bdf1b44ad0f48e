// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/tensor_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/judge/distance.h"

namespace kiln::tools {
namespace {

// Relative slack for rounding errors in differences of real numbers that are multiples of a scale.
constexpr double kQuantaRounding = 1e-3;
constexpr uint64_t kMostUlp = std::numeric_limits<int64_t>::max();

}  // namespace

TensorError MeasureError(const Tensor& found, const Tensor& wanted, std::optional<double> scale) {
  TensorError error{.elements = found.type().num_elements()};
  const DType dtype = found.type().dtype;
  const bool floats = dtype.is_float() && dtype == wanted.type().dtype;
  if (floats) error.ulp = 0;
  Angle angle;
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < error.elements; ++i) {
    const double a = found.AsDouble(i), b = wanted.AsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) {
      ++finite;
      if (!std::isfinite(b)) continue;
      error.largest_wanted = std::max(error.largest_wanted, std::abs(b));
      angle.Add(a, b);
      continue;
    }
    ++error.differing;
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (error.not_finite++ == 0) error.at = i, error.found = a, error.wanted = b;
      continue;
    }
    ++finite;
    const double difference = std::abs(a - b);
    if (difference > error.largest) {
      error.largest = difference;
      if (error.not_finite == 0) error.at = i, error.found = a, error.wanted = b;
    }
    sum += difference;
    error.largest_wanted = std::max(error.largest_wanted, std::abs(b));
    angle.Add(a, b);
    if (floats) {
      const uint64_t steps = std::min(StepsBetween(found, wanted, i), kMostUlp);
      error.ulp = std::max(*error.ulp, static_cast<int64_t>(steps));
    }
  }
  error.mean = finite > 0 ? sum / static_cast<double>(finite) : 0;
  error.cosine = angle.Cosine();
  if (scale.has_value()) error.quanta = error.largest / *scale;
  return error;
}

bool IsOff(const TensorError& error, const ErrorTolerance& tolerance) {
  if (error.not_finite > 0) return true;
  if (tolerance.cosine.has_value()) return error.cosine < *tolerance.cosine;
  if (error.quanta.has_value()) return *error.quanta > tolerance.quanta + kQuantaRounding;
  return error.largest > tolerance.absolute + tolerance.relative * error.largest_wanted;
}

}  // namespace kiln::tools
