// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/tensor_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln::tools {
namespace {

// Slack for a difference of real numbers that are multiples of a scale.
constexpr double kQuantaRounding = 1e-3;

// The place of a float among all floats of its type, negative ones below 0.
template <typename Bits, typename Signed>
int64_t Rank(Bits bits) {
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  const auto magnitude = static_cast<Signed>(bits & static_cast<Bits>(~kSign));
  return (bits & kSign) != 0 ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

int64_t RankOf(const Tensor& tensor, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (tensor.type().dtype.bits) {
    case 16:
      return Rank<uint16_t, int16_t>(tensor.values<uint16_t>()[at]);
    case 32:
      return Rank<uint32_t, int32_t>(tensor.values<uint32_t>()[at]);
    default:
      return Rank<uint64_t, int64_t>(tensor.values<uint64_t>()[at]);
  }
}

// |a - b|, or the largest number there is where that is beyond it.
int64_t Distance(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(std::max(a, b), std::min(a, b), &difference)) {
    return std::numeric_limits<int64_t>::max();
  }
  return difference;
}

// The products that a cosine is made of.
struct Angle {
  double dot = 0, found = 0, wanted = 0;

  void Add(double a, double b) {
    dot += a * b;
    found += a * a;
    wanted += b * b;
  }
  double Cosine() const {
    if (found == 0 || wanted == 0) return found == wanted ? 1 : 0;
    return std::clamp(dot / (std::sqrt(found) * std::sqrt(wanted)), -1.0, 1.0);
  }
};

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
    if (floats) error.ulp = std::max(*error.ulp, Distance(RankOf(found, i), RankOf(wanted, i)));
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
