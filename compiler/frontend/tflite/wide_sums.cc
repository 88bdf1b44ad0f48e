// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/wide_sums.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compiler/base/status.h"

namespace kiln::tflite_frontend {
namespace {

// Sums the magnitudes of a constant's numbers minus their zero point along all axes but one.
std::vector<double> SumsOfMagnitudes(const Tensor& tensor, const Quantization& q, size_t axis) {
  const Shape& shape = tensor.type().shape;
  const int64_t channels = shape[axis];
  const int64_t inner =
      NumElements(Shape(shape.begin() + static_cast<int64_t>(axis) + 1, shape.end()));
  const std::vector<int64_t> values = tensor.ToInts();
  std::vector<double> sums(static_cast<size_t>(channels));
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t channel = i / static_cast<size_t>(inner) % sums.size();
    const int64_t zero = q.zero_points[q.zero_points.size() > 1 ? channel : 0];
    sums[channel] += static_cast<double>(std::abs(values[i] - zero));
  }
  return sums;
}

// Returns the largest magnitude of the numbers of a bias.
absl::StatusOr<double> LargestBias(const Converter& c, int input) {
  if (!c.HasInput(input)) return 0.0;
  KILN_ASSIGN_OR_RETURN(const ValueId bias, c.Input(input));
  if (!c.IsConstant(bias)) return LargestDifference(c.type(bias).dtype, 0);
  KILN_ASSIGN_OR_RETURN(const Tensor values, c.ConstantInput(input, "the bias"));
  double largest = 0;
  for (int64_t i = 0; i < values.type().num_elements(); ++i) {
    largest = std::max(largest, std::abs(values.AsDouble(i)));
  }
  return largest;
}

}  // namespace

double LargestDifference(DType dtype, int64_t zero_point) {
  const auto zero = static_cast<double>(zero_point);
  return std::max(static_cast<double>(dtype.MaxInt()) - zero,
                  zero - static_cast<double>(dtype.MinInt()));
}

absl::StatusOr<double> LargestSum(const Converter& c, const ProductOperands& p,
                                  const Quantization& x, const Quantization& weight) {
  KILN_ASSIGN_OR_RETURN(const double bias, LargestBias(c, p.bias_input));
  const double factor = LargestDifference(c.type(p.x).dtype, x.zero_points[0]);
  KILN_ASSIGN_OR_RETURN(const ValueId w, c.Input(p.weight_input));
  const TensorType type = c.type(w);
  if (type.num_elements() == 0) return bias;
  if (!c.IsConstant(w)) {
    const int64_t channels = type.shape[static_cast<size_t>(p.channel_axis)];
    const double taps = static_cast<double>(type.num_elements() / channels);
    return bias + taps * factor * LargestDifference(type.dtype, weight.zero_points[0]);
  }
  KILN_ASSIGN_OR_RETURN(const Tensor values, c.ConstantInput(p.weight_input, "the weight"));
  const std::vector<double> sums =
      SumsOfMagnitudes(values, weight, static_cast<size_t>(p.channel_axis));
  return bias + factor * *std::max_element(sums.begin(), sums.end());
}

absl::StatusOr<ValueId> RescaledSums(Converter& c, ValueId sums, bool beyond_int32,
                                     const std::vector<double>& factors, int64_t zero_point,
                                     DType dtype) {
  if (!beyond_int32) return Rescaled(c, sums, factors, zero_point, dtype);
  const auto within = [&](double least, double most) -> absl::StatusOr<ValueId> {
    KILN_ASSIGN_OR_RETURN(const ValueId y,
                          c.Op("clip", {sums}, {{"a_min", least}, {"a_max", most}}));
    return c.Op("cast", {y}, {{"dtype", "int32"}});
  };
  // With such factors, a sum of 2^30 or more is at least 2^(bits + 2) in the output's scale, so it
  // saturates.
  const double least_factor = *std::min_element(factors.begin(), factors.end());
  if (least_factor >= std::ldexp(1, dtype.bits + 2 - 30)) {
    KILN_ASSIGN_OR_RETURN(const ValueId narrow, within(-0x1p30, 0x1p30));
    return Rescaled(c, narrow, factors, zero_point, dtype);
  }
  KILN_ASSIGN_OR_RETURN(const ValueId narrow, within(-0x1p31, 0x1p31 - 1));
  KILN_ASSIGN_OR_RETURN(const ValueId near, Rescaled(c, narrow, factors, zero_point, dtype));
  // Every factor of 1 or more saturates a sum beyond int32, so larger factors are not needed.
  std::vector<double> small = factors;
  for (double& factor : small) factor = std::min(factor, 1.0);
  KILN_ASSIGN_OR_RETURN(const ValueId far, Rescaled(c, sums, small, zero_point, dtype));
  KILN_ASSIGN_OR_RETURN(const ValueId back, c.Op("cast", {narrow}, {{"dtype", "int64"}}));
  KILN_ASSIGN_OR_RETURN(const ValueId fits, c.Op("equal", {back, sums}));
  return c.Op("where", {fits, near, far});
}

}  // namespace kiln::tflite_frontend
