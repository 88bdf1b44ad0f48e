// SPDX-License-Identifier: Apache-2.0
// Elementary functions with an error measure of their own, exact functions, and integer division.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/loop/math.h"
#include "compiler/loop/testing/math_error.h"
#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

// Maximum of |Gelu(x) - x Phi(x)| / |x| over finite points.
template <typename T, typename Wide>
double ErrorOfGelu(Expr (*build)(Expr)) {
  std::vector<T> points;
  for (T x : AllMagnitudes<T>(NumPoints())) {
    if (std::isfinite(x) && x != 0) points.push_back(x);
  }
  Append(points, -10, 10, NumPoints());
  const std::vector<T> got =
      Evaluate<T>([&](Expr x, Expr) { return build(std::move(x)); }, points, points);
  double worst = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const Wide x = points[i], want = x * std::erfc(-x / std::sqrt(Wide{2})) / 2;
    // A subnormal x has fewer bits, and so has the result.
    const Wide unit = std::max(std::abs(x), Wide{std::numeric_limits<T>::min()});
    const double error = static_cast<double>(std::abs(static_cast<Wide>(got[i]) - want) / unit);
    EXPECT_FALSE(std::isnan(error)) << points[i];
    worst = std::max(worst, error);
  }
  return worst;
}

TEST(GeluTest, ErrorIsAboutTheLastPlaceOfX) {
  EXPECT_LE((ErrorOfGelu<float, double>(Gelu)), 1.25e-7);
  EXPECT_LE(
      (ErrorOfGelu<float, double>([](Expr x) { return FuseMultiplyAdds(Gelu(std::move(x))); })),
      0x1p-23);
  EXPECT_LE((ErrorOfGelu<double, long double>(Gelu)), 0x1p-52);
}

TEST(GeluTest, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> got = Evaluate<float>(
      [](Expr x, Expr) { return Gelu(std::move(x)); },
      {0, -0.0f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), -100, -1e30f}, {});
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[1], 0);
  EXPECT_EQ(got[2], infinity);
  EXPECT_NEAR(got[3], 0, 1e-36);
  EXPECT_TRUE(std::isnan(got[4]));
  EXPECT_NEAR(got[5], 0, 1e-36);
  EXPECT_NEAR(got[6], 0, 1e-36);
}

template <typename T>
void CheckRounding() {
  std::vector<T> points = SpecialPoints<T>();
  for (T x : AllMagnitudes<T>(20'000)) points.push_back(x);
  Append(points, -10, 10, 20'000);
  for (T x = -5; x <= 5; x += T{0.5}) points.push_back(x);
  const std::pair<Expr (*)(Expr), T (*)(T)> cases[] = {
      {Floor, std::floor},         {Ceil, std::ceil},       {Trunc, std::trunc},
      {RoundEven, std::nearbyint}, {RoundAway, std::round}, {Sqrt, std::sqrt}};
  for (const auto& [build, reference] : cases) {
    const std::vector<T> got = Evaluate<T>([&](Expr x, Expr) { return build(x); }, points, points);
    for (size_t i = 0; i < points.size(); ++i) {
      const T want = reference(points[i]);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got[i])) << points[i];
      } else {
        EXPECT_EQ(got[i], want) << points[i];
        EXPECT_EQ(std::signbit(got[i]), std::signbit(want)) << points[i];
      }
    }
  }
}

TEST(RoundTest, Float32) { CheckRounding<float>(); }
TEST(RoundTest, Float64) { CheckRounding<double>(); }

// As Exp, but subnormal results may be 0, and most are.
template <typename T, typename Wide>
void CheckExpOfNonPositive() {
  const T smallest = std::numeric_limits<T>::min();
  std::vector<T> points = {T{0}, -std::numeric_limits<T>::infinity(), T{-1e4}, T{-1e-30}};
  for (int i = 0; i < 40000; ++i) points.push_back(static_cast<T>(-i) * T{0.02});
  const auto evaluate = [&] {
    return Evaluate<T>([](Expr x, Expr) { return ExpOfNonPositive(std::move(x)); }, points, points);
  };
  const std::vector<T> got = evaluate();
  for (size_t i = 0; i < points.size(); ++i) {
    const Wide want = std::exp(static_cast<Wide>(points[i]));
    if (want >= smallest) {
      EXPECT_LE((UlpError<T, Wide>(got[i], want)), 1) << points[i];
    } else {
      const bool near = want > smallest / 2 && UlpError<T, Wide>(got[i], want) <= 1;
      EXPECT_TRUE(got[i] == 0 || near) << points[i] << ": " << got[i];
    }
  }
  points = {std::numeric_limits<T>::quiet_NaN()};
  EXPECT_TRUE(std::isnan(evaluate()[0]));
}

TEST(ExpOfNonPositiveTest, Float32) { CheckExpOfNonPositive<float, double>(); }
TEST(ExpOfNonPositiveTest, Float64) { CheckExpOfNonPositive<double, long double>(); }

TEST(ClassifyTest, NanAndInfinity) {
  const Type f32 = Type::Of(DType::Float(32));
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(IsInt(IsNan(FloatConst(f32, nan)), 1));
  EXPECT_TRUE(IsInt(IsNan(FloatConst(f32, infinity)), 0));
  EXPECT_TRUE(IsInt(IsInf(FloatConst(f32, -infinity)), 1));
  EXPECT_TRUE(IsInt(IsInf(FloatConst(f32, nan)), 0));
  EXPECT_TRUE(IsInt(IsInf(MakeVar("i")), 0));
  EXPECT_TRUE(IsInt(IsNan(MakeVar("i")), 0));
}

TEST(FloorDivTest, RoundsDown) {
  const Type i32 = Type::Of(DType::Int(32));
  for (int a = -20; a <= 20; ++a) {
    for (int b = -9; b <= 9; ++b) {
      if (b == 0) continue;
      const int quotient = static_cast<int>(std::floor(static_cast<double>(a) / b));
      const Expr x = IntConst(i32, a), y = IntConst(i32, b);
      EXPECT_TRUE(IsInt(FloorDiv(x, y), quotient)) << a << " / " << b;
      EXPECT_TRUE(IsInt(FloorMod(x, y), a - quotient * b)) << a << " % " << b;
    }
  }
  const Var n = MakeVar("n", i32), i = MakeVar("i");
  EXPECT_EQ(ToString(FloorDiv(n, 8)), "n >> 3i32");
  EXPECT_EQ(ToString(FloorMod(n, 8)), "n & 7i32");
  EXPECT_EQ(ToString(FloorDiv(i, 8)), "let t0 = i / 8 in select(i % 8 < 0, t0 - 1, t0)");
  EXPECT_EQ(ToString(FloorDiv(MakeVar("u", Type::Of(DType::UInt(8))), 3)), "u / 3u8");
}

}  // namespace
}  // namespace kiln::loop
