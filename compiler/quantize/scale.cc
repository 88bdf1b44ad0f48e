// SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln::quantize {
namespace {

constexpr int kMin = -128, kMax = 127;
// Half of the int32 range, so that sums of products have room next to a bias.
constexpr double kMaxBias = 1 << 30;

// Returns `scale`, or 1 if it is too small for a float32 division.
float Usable(double scale) {
  return scale >= std::numeric_limits<float>::min() ? static_cast<float>(scale) : 1.0f;
}

// Quantizes `value`. Rounds half to even, as QuantizeLinear does.
int8_t Number(float value, float scale, int32_t zero_point, int min) {
  const double q = std::nearbyint(static_cast<double>(value / scale)) + zero_point;
  return static_cast<int8_t>(std::clamp<double>(q, min, kMax));
}

}  // namespace

Scale ScaleOf(const Range& range, bool symmetric) {
  const double low = std::min(0.0f, range.min), high = std::max(0.0f, range.max);
  if (symmetric) return {Usable(std::max(-low, high) / kMax), 0};
  const float scale = Usable((high - low) / (kMax - kMin));
  const double zero = kMin - low / scale;
  return {scale, static_cast<int32_t>(std::clamp<double>(std::nearbyint(zero), kMin, kMax))};
}

Tensor Quantize(const Tensor& floats, const Scale& scale) {
  std::vector<int8_t> numbers;
  for (const float value : floats.values<float>()) {
    numbers.push_back(Number(value, scale.scale, scale.zero_point, kMin));
  }
  return Tensor::From<int8_t>(floats.type().shape, DType::Int(8), numbers);
}

Weights QuantizeWeights(const Tensor& floats, int axis, absl::Span<const float> bias,
                        float input_scale) {
  const Shape& shape = floats.type().shape;
  size_t inner = 1, channels = 1;
  if (axis >= 0) {
    channels = static_cast<size_t>(shape[static_cast<size_t>(axis)]);
    for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) {
      inner *= static_cast<size_t>(shape[i]);
    }
  }
  const auto channel = [&](size_t i) { return axis < 0 ? 0 : i / inner % channels; };
  const absl::Span<const float> values = floats.values<float>();
  std::vector<double> largest(channels, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    largest[channel(i)] = std::max(largest[channel(i)], std::abs(double{values[i]}));
  }
  Weights weights;
  for (double& scale : largest) scale /= kMax;
  for (size_t i = 0; i < bias.size(); ++i) {
    double& scale = largest[axis < 0 ? 0 : i];
    scale = std::max(scale, std::abs(double{bias[i]}) / input_scale / kMaxBias);
  }
  for (const double scale : largest) weights.scales.push_back(Usable(scale));
  std::vector<int8_t> numbers;
  for (size_t i = 0; i < values.size(); ++i) {
    numbers.push_back(Number(values[i], weights.scales[channel(i)], 0, -kMax));
  }
  weights.numbers = Tensor::From<int8_t>(shape, DType::Int(8), numbers);
  return weights;
}

Tensor QuantizeBias(absl::Span<const float> bias, float input_scale,
                    absl::Span<const float> scales) {
  std::vector<int32_t> numbers;
  for (size_t i = 0; i < bias.size(); ++i) {
    const float scale = input_scale * scales[scales.size() == 1 ? 0 : i];
    const double q = std::nearbyint(double{bias[i]} / double{scale});
    numbers.push_back(static_cast<int32_t>(std::clamp(q, -2 * kMaxBias, 2 * kMaxBias - 1)));
  }
  return Tensor::From<int32_t>({static_cast<int64_t>(bias.size())}, DType::Int(32), numbers);
}

}  // namespace kiln::quantize
