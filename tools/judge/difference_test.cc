// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/difference.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace kiln::tools {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Tolerance kLoose = {.relative = 0.5, .absolute = 0.5};

Tensor Floats(const std::vector<float>& values) {
  return Tensor::From<float>({static_cast<int64_t>(values.size())}, DType::Float(32), values);
}

Difference Measure(const Tensor& found, const Tensor& wanted, const Tolerance& tolerance) {
  Difference difference;
  difference.Add(found, wanted, tolerance);
  return difference;
}

TEST(DifferenceTest, NothingIsNearAnInfinity) {
  for (const float found : {1.0f, -kInfinity, kNan}) {
    for (const float wanted : {kInfinity, -1.0f}) {
      const Tensor a = Floats({found}), b = Floats({wanted});
      EXPECT_EQ(Measure(a, b, kLoose).elements_beyond, 1) << found << " " << wanted;
      EXPECT_FALSE(CheckClose(a, b, kLoose).ok()) << found << " " << wanted;
    }
  }
  for (const float value : {kInfinity, -kInfinity, kNan}) {
    const Tensor tensor = Floats({value});
    EXPECT_EQ(Measure(tensor, tensor, kLoose).elements_beyond, 0) << value;
    EXPECT_TRUE(CheckClose(tensor, tensor, kLoose).ok()) << value;
  }
}

TEST(DifferenceTest, OneTensorFollowsAnother) {
  Difference difference = Measure(Floats({1, 2}), Floats({1, 2}), {});
  EXPECT_EQ(difference.differing, 0);
  difference.Add(Floats({1, 2.5f}), Floats({1, 2}), {});
  EXPECT_EQ(difference.elements, 4);
  EXPECT_EQ(difference.differing, 1);
  EXPECT_EQ(difference.at, 3);
  EXPECT_EQ(difference.found, 2.5);
  EXPECT_EQ(difference.Mean(), 0.125);
  difference.Add(Floats({kNan, 9}), Floats({0, 0}), {});
  EXPECT_EQ(difference.not_finite, 1);
  EXPECT_EQ(difference.at, 4) << "a NaN is worse than all numbers";
  EXPECT_EQ(difference.largest, 9);
  EXPECT_EQ(difference.Mean(), 9.5 / 5);
}

TEST(DifferenceTest, WideIntegersDifferByLessThanADouble) {
  const auto ints = [](int64_t value) {
    return Tensor::From<int64_t>({1}, DType::Int(64), std::vector<int64_t>{value});
  };
  const Difference difference = Measure(ints((int64_t{1} << 60) + 1), ints(int64_t{1} << 60), {});
  EXPECT_EQ(difference.differing, 1);
  EXPECT_EQ(difference.largest_steps, 1u);
  EXPECT_EQ(difference.wanted, static_cast<double>(int64_t{1} << 60));
}

TEST(CheckCloseTest, WithoutAToleranceTheBitsAreEqual) {
  constexpr Tolerance kBits = {.relative = 0, .absolute = 0};
  EXPECT_TRUE(CheckClose(Floats({1, kNan}), Floats({1, kNan}), kBits).ok());
  EXPECT_TRUE(CheckClose(Floats({-0.0f}), Floats({0}), kLoose).ok());
  const absl::Status status = CheckClose(Floats({1, -0.0f, 3}), Floats({1, 0, 4}), kBits);
  EXPECT_EQ(status.message(), "2 of 3 values differ, the first at 1: found -0, wanted 0");
}

TEST(CheckToleranceTest, NamesTheOption) {
  EXPECT_TRUE(CheckTolerance("--rtol", 0).ok());
  for (const double tolerance : {-1.0, static_cast<double>(kInfinity), static_cast<double>(kNan)}) {
    EXPECT_EQ(CheckTolerance("--rtol", tolerance).message().substr(0, 14), "--rtol: found ");
  }
}

}  // namespace
}  // namespace kiln::tools
