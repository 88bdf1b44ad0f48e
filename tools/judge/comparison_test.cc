// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln::tools {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor Floats(Shape shape, std::vector<float> values) {
  return Tensor::From<float>(std::move(shape), DType::Float(32), values);
}

Tensor Bytes(Shape shape, std::vector<int8_t> values) {
  return Tensor::From<int8_t>(std::move(shape), DType::Int(8), values);
}

TEST(TensorErrorTest, LargestMeanAndWhere) {
  const TensorError error =
      MeasureError(Floats({4}, {1, 2, 3, 5}), Floats({4}, {1, 2.5, 3, 4}), std::nullopt);
  EXPECT_EQ(error.elements, 4);
  EXPECT_EQ(error.differing, 2);
  EXPECT_EQ(error.largest, 1);
  EXPECT_EQ(error.Mean(), 1.5 / 4);
  EXPECT_EQ(error.largest_wanted, 4);
  EXPECT_EQ(error.at, 3);
  EXPECT_EQ(error.found, 5);
  EXPECT_EQ(error.wanted, 4);
  EXPECT_FALSE(error.quanta.has_value());
}

TEST(TensorErrorTest, UlpCountsFloatsBetween) {
  const float next = std::nextafter(std::nextafter(1.0f, 2.0f), 2.0f);
  EXPECT_EQ(MeasureError(Floats({1}, {next}), Floats({1}, {1}), std::nullopt).ulp, 2);
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(MeasureError(Floats({1}, {tiny}), Floats({1}, {-tiny}), std::nullopt).ulp, 2);
  EXPECT_FALSE(MeasureError(Bytes({1}, {1}), Bytes({1}, {2}), std::nullopt).ulp.has_value());
}

TEST(TensorErrorTest, CosineOfVectors) {
  const auto cosine = [](std::vector<float> a, std::vector<float> b) {
    return MeasureError(Floats({2}, a), Floats({2}, b), std::nullopt).Cosine();
  };
  EXPECT_NEAR(cosine({1, 0}, {2, 0}), 1, 1e-12);
  EXPECT_NEAR(cosine({1, 0}, {0, 1}), 0, 1e-12);
  EXPECT_NEAR(cosine({1, 1}, {-1, -1}), -1, 1e-12);
  EXPECT_EQ(cosine({0, 0}, {0, 0}), 1);
  EXPECT_EQ(cosine({0, 0}, {1, 0}), 0);
}

TEST(TensorErrorTest, ANumberThatIsFiniteOnOneSideIsAlwaysOff) {
  const ErrorTolerance loose{.relative = 100, .absolute = 100};
  const auto off = [&](float a, float b) {
    return IsOff(MeasureError(Floats({2}, {1, a}), Floats({2}, {1, b}), std::nullopt), loose);
  };
  EXPECT_TRUE(off(kNan, 1));
  EXPECT_TRUE(off(1, std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(off(kNan, kNan));
  EXPECT_FALSE(off(1, 2));
}

TEST(TensorErrorTest, ToleranceIsOfTheLargestValueOrOfQuantaOrOfTheCosine) {
  const TensorError real =
      MeasureError(Floats({2}, {100.5, 0}), Floats({2}, {100, 0}), std::nullopt);
  EXPECT_FALSE(IsOff(real, {.relative = 0.01, .absolute = 0}));
  EXPECT_TRUE(IsOff(real, {.relative = 0.001, .absolute = 0}));
  EXPECT_FALSE(IsOff(real, {.relative = 0, .absolute = 0, .cosine = 0.99}));
  const TensorError quantised = MeasureError(Floats({1}, {1}), Floats({1}, {0.5}), 0.5);
  EXPECT_EQ(quantised.quanta, 1);
  EXPECT_TRUE(IsOff(quantised, {.relative = 1, .absolute = 1, .quanta = 0}));
  EXPECT_FALSE(IsOff(quantised, {.relative = 0, .absolute = 0, .quanta = 1}));
}

TEST(ComparisonTest, FindsTheFirstTensorThatIsOff) {
  const TensorComparison comparison =
      CompareTensors({{.name = "a", .tensor = Floats({1}, {1})},
                      {.name = "b", .tensor = Floats({1}, {2}), .layer = "conv"},
                      {.name = "c", .tensor = Floats({1}, {3})},
                      {.name = "d", .tensor = Floats({1}, {4})}},
                     {{.name = "c", .tensor = Floats({1}, {9})},
                      {.name = "b", .tensor = Floats({1}, {8})},
                      {.name = "a", .tensor = Floats({1}, {1})}},
                     {});
  ASSERT_NE(comparison.first_off(), nullptr);
  EXPECT_EQ(comparison.first_off()->name, "b");
  EXPECT_EQ(comparison.missing, std::vector<std::string>{"d"});
  EXPECT_NE(ComparisonText(comparison).find("2 of 3 tensors are off"), std::string::npos);
  EXPECT_EQ(ComparisonJson(comparison)["first_off"], "b");
  EXPECT_NE(ComparisonPage(comparison).find("The first tensor that is off is b, of the layer conv"),
            std::string::npos);
}

TEST(ComparisonTest, ChannelsLastAndFirstAreTheSameTensor) {
  const Tensor first = Floats({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor last = Floats({1, 1, 3, 2}, {1, 4, 2, 5, 3, 6});
  for (const auto& [found, wanted, layout] :
       {std::tuple(first, last, "NHWC to NCHW"), std::tuple(last, first, "NCHW to NHWC")}) {
    const TensorComparison comparison =
        CompareTensors({{.name = "x", .tensor = found}}, {{.name = "x", .tensor = wanted}}, {});
    EXPECT_EQ(comparison.tensors[0].layout, layout);
    EXPECT_EQ(comparison.tensors[0].error->differing, 0);
  }
}

TEST(ComparisonTest, ShapesThatDoNotFitAreOff) {
  const TensorComparison comparison =
      CompareTensors({{.name = "x", .tensor = Floats({2, 3}, {1, 2, 3, 4, 5, 6})},
                      {.name = "y", .tensor = Floats({1, 2}, {1, 2})}},
                     {{.name = "x", .tensor = Floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                      {.name = "y", .tensor = Floats({2}, {1, 2})}},
                     {});
  EXPECT_TRUE(comparison.tensors[0].off);
  EXPECT_FALSE(comparison.tensors[0].error.has_value());
  EXPECT_FALSE(comparison.tensors[1].off);
  EXPECT_TRUE(ComparisonJson(comparison)["tensors"][0]["error"].is_null());
}

TEST(ComparisonTest, QuantisedValuesAreComparedAsRealNumbers) {
  const TensorScale scale = {0.5, 10, "x"};
  const TensorComparison comparison =
      CompareTensors({{.name = "x_quantized", .tensor = Bytes({2}, {12, 10}), .scale = scale}},
                     {{.name = "x", .tensor = Floats({2}, {1.25, 0})}}, {});
  ASSERT_EQ(comparison.tensors.size(), 1u);
  EXPECT_EQ(comparison.tensors[0].reference_name, "x");
  EXPECT_EQ(comparison.tensors[0].error->largest, 0.25);
  EXPECT_EQ(comparison.tensors[0].error->quanta, 0.5);
}

TEST(ComparisonTest, APageShowsNamesAsText) {
  TensorComparison comparison =
      CompareTensors({{.name = "<script>", .tensor = Floats({1}, {1})}},
                     {{.name = "<script>", .tensor = Floats({1}, {1})}}, {});
  comparison.model = "\"m\"";
  const std::string page = ComparisonPage(comparison);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  EXPECT_NE(page.find("&quot;m&quot;"), std::string::npos);
  EXPECT_EQ(page.find("<td><script>"), std::string::npos);
}

}  // namespace
}  // namespace kiln::tools
