// SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/scale.h"

#include <gtest/gtest.h>

#include <vector>

namespace kiln::quantize {
namespace {

Tensor Floats(Shape shape, const std::vector<float>& values) {
  return Tensor::From<float>(std::move(shape), DType::Float(32), values);
}

std::vector<int8_t> Numbers(const Tensor& tensor) {
  const auto values = tensor.values<int8_t>();
  return {values.begin(), values.end()};
}

TEST(ScaleTest, AsymmetricCoversTheRangeAndZero) {
  EXPECT_EQ(ScaleOf({0, 255}, false), (Scale{1, -128}));
  EXPECT_EQ(ScaleOf({-255, 0}, false), (Scale{1, 127}));
  EXPECT_EQ(ScaleOf({-64, 63.5}, false), (Scale{0.5f, 0}));
  EXPECT_EQ(ScaleOf({10, 255}, false), (Scale{1, -128}));
}

TEST(ScaleTest, SymmetricHasTheZeroPointZero) {
  EXPECT_EQ(ScaleOf({0, 254}, true), (Scale{2, 0}));
  EXPECT_EQ(ScaleOf({-254, 1}, true), (Scale{2, 0}));
}

TEST(ScaleTest, ARangeWithoutExtentHasTheScaleOne) {
  EXPECT_EQ(ScaleOf({0, 0}, false).scale, 1);
  EXPECT_EQ(ScaleOf({0, 1e-44f}, false).scale, 1);
}

TEST(ScaleTest, HalvesGoToEvenAndValuesOutsideToTheEnds) {
  const Tensor q = Quantize(Floats({6}, {0.25f, 0.75f, -0.25f, 1000, -1000, 1}), {0.5f, 3});
  EXPECT_EQ(Numbers(q), (std::vector<int8_t>{3, 5, 3, 127, -128, 5}));
}

TEST(ScaleTest, WeightsHaveAScalePerChannel) {
  const Tensor w = Floats({2, 2}, {127, -63.5f, 0.5f, -1.27f});
  const Weights rows = QuantizeWeights(w, 0, {}, 1);
  EXPECT_EQ(rows.scales, (std::vector<float>{1, 0.01f}));
  EXPECT_EQ(Numbers(rows.numbers), (std::vector<int8_t>{127, -64, 50, -127}));
  const Weights columns = QuantizeWeights(w, 1, {}, 1);
  EXPECT_EQ(columns.scales, (std::vector<float>{1, 0.5f}));
  EXPECT_EQ(Numbers(columns.numbers), (std::vector<int8_t>{127, -127, 0, -3}));
  const Weights all = QuantizeWeights(w, -1, {}, 1);
  EXPECT_EQ(all.scales, (std::vector<float>{1}));
  EXPECT_EQ(Numbers(all.numbers), (std::vector<int8_t>{127, -64, 0, -1}));
}

TEST(ScaleTest, AChannelOfZerosWithABiasKeepsTheBias) {
  const std::vector<float> bias = {3};
  const Weights weights = QuantizeWeights(Floats({1, 2}, {0, 0}), 0, bias, 0.5f);
  const Tensor numbers = QuantizeBias(bias, 0.5f, weights.scales);
  EXPECT_EQ(Numbers(weights.numbers), (std::vector<int8_t>{0, 0}));
  EXPECT_NEAR(numbers.values<int32_t>()[0] * double{0.5f} * weights.scales[0], 3, 1e-6);
}

TEST(ScaleTest, ABiasBeyondInt32MakesTheScaleLarger) {
  const std::vector<float> bias = {1e6f};
  const Weights weights = QuantizeWeights(Floats({1, 1}, {1e-6f}), 0, bias, 1e-3f);
  const Tensor numbers = QuantizeBias(bias, 1e-3f, weights.scales);
  EXPECT_NEAR(numbers.values<int32_t>()[0] * double{1e-3f} * weights.scales[0], 1e6, 1);
}

TEST(ScaleTest, BiasHasTheScaleOfTheSums) {
  const Tensor numbers = QuantizeBias(std::vector<float>{1, -1}, 0.5f, std::vector<float>{0.5f, 2});
  EXPECT_EQ(numbers.type(), (TensorType{{2}, DType::Int(32)}));
  EXPECT_EQ(numbers.values<int32_t>()[0], 4);
  EXPECT_EQ(numbers.values<int32_t>()[1], -1);
}

}  // namespace
}  // namespace kiln::quantize
