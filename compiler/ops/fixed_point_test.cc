// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/fixed_point.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace kiln {
namespace {

using loop::Expr;

constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kMin = std::numeric_limits<int32_t>::min();

Expr I32(int64_t value) { return loop::IntConst(loop::Type::Of(DType::Int(32)), value); }

// The value of an expression of constants.
int64_t ValueOf(const Expr& e) {
  int64_t value = 0;
  EXPECT_TRUE(loop::AsInt(e, &value));
  return value;
}

std::vector<int32_t> Interesting() {
  std::vector<int32_t> values = {kMin, kMin + 1, kMax, kMax - 1, 0, 1, -1, 2, -2, 3, -3};
  for (int bit = 2; bit < 31; ++bit) {
    for (int32_t delta : {-1, 0, 1}) {
      values.push_back((1 << bit) + delta);
      values.push_back(-(1 << bit) + delta);
      values.push_back((3 << (bit - 2)) + delta);
    }
  }
  uint32_t state = 1;
  for (int n = 0; n < 50; ++n) {
    state = state * 1664525u + 1013904223u;
    values.push_back(static_cast<int32_t>(state));
  }
  return values;
}

TEST(FixedPoint, FactorsAreTheNearest) {
  for (const double factor : {1.0, 0.75, 0.0003, 123.5, 0.9999999999, 1e-6}) {
    const FixedPointFactor f = ToFixedPoint(factor);
    EXPECT_NEAR(f.multiplier * std::exp2(f.shift - 31) / factor, 1, 0x1p-31) << factor;
    EXPECT_GE(f.multiplier, 1 << 30);
  }
  // Rounded up to the next power of two.
  EXPECT_EQ(ToFixedPoint(1 - 0x1p-33).multiplier, 1 << 30);
  EXPECT_EQ(ToFixedPoint(1 - 0x1p-33).shift, 1);
  EXPECT_EQ(ToFixedPoint(0x1p-40).multiplier, 0);
  EXPECT_EQ(ToFixedPoint(0).multiplier, 0);
}

// Compares with the definition of the product of two numbers: a half with the product's sign is
// added, and the quotient is truncated.
TEST(FixedPoint, MultiplyHighRoundsToNearest) {
  const std::vector<int32_t> values = Interesting();
  for (int32_t a : values) {
    for (int32_t b : values) {
      if (a == kMin && b == kMin) continue;
      const int64_t product = int64_t{a} * b;
      const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
      ASSERT_EQ(ValueOf(MultiplyHigh(I32(a), I32(b))), (product + nudge) / (int64_t{1} << 31))
          << a << " * " << b;
    }
  }
}

TEST(FixedPoint, QuotientsRoundHalvesAwayFromZero) {
  for (int32_t x : Interesting()) {
    for (int exponent = 0; exponent <= 31; ++exponent) {
      if (x == kMin && exponent > 0) continue;
      const auto wanted = static_cast<int64_t>(std::round(x * std::exp2(-exponent)));
      ASSERT_EQ(ValueOf(DivideByPowerOfTwo(I32(x), exponent)), wanted) << x << " " << exponent;
      if (exponent == 31) continue;
      ASSERT_EQ(ValueOf(DivideByPowerOfTwo(I32(x), I32(exponent))), wanted) << x << " " << exponent;
    }
  }
}

TEST(FixedPoint, ShiftsSaturate) {
  EXPECT_EQ(ValueOf(SaturatingShiftLeft(I32(kMax / 4), 2)), kMax / 4 * int64_t{4});
  EXPECT_EQ(ValueOf(SaturatingShiftLeft(I32(kMax / 4 + 1), 2)), kMax);
  EXPECT_EQ(ValueOf(SaturatingShiftLeft(I32(kMin / 4), 2)), kMin);
  EXPECT_EQ(ValueOf(SaturatingShiftLeft(I32(kMin / 4 - 1), 2)), kMin);
}

TEST(FixedPoint, LeadingZeros) {
  for (int bit = 0; bit < 31; ++bit) {
    EXPECT_EQ(ValueOf(CountLeadingZeros(I32(int64_t{1} << bit))), 31 - bit);
    EXPECT_EQ(ValueOf(CountLeadingZeros(I32((int64_t{2} << bit) - 1))), 31 - bit);
  }
}

// Functions of numbers with 4 integer bits, compared with the true values.
TEST(FixedPoint, FunctionsAreNear) {
  constexpr int kBits = 4;
  constexpr double kError = 3e-7;
  for (double x = -15.9; x < 15.9; x += 0.0713) {
    const Expr raw = I32(std::lround(x * std::exp2(31 - kBits)));
    const auto real = [](const Expr& e) { return static_cast<double>(ValueOf(e)) * 0x1p-31; };
    EXPECT_NEAR(real(FixedPointLogistic(raw, kBits)), 1 / (1 + std::exp(-x)), kError) << x;
    EXPECT_NEAR(real(FixedPointTanh(raw, kBits)), std::tanh(x), kError) << x;
    if (x <= 0) {
      EXPECT_NEAR(real(FixedPointExp(raw, kBits)), std::exp(x), kError) << x;
    }
    if (x >= 0 && x <= 1) {
      const Expr fraction = I32(static_cast<int64_t>(x * kMax));
      EXPECT_NEAR(real(FixedPointOneOverOnePlus(fraction)), 1 / (1 + x), kError) << x;
    }
  }
  EXPECT_EQ(ValueOf(FixedPointExp(I32(0), kBits)), kMax);
  EXPECT_EQ(ValueOf(FixedPointTanh(I32(0), kBits)), 0);
  EXPECT_EQ(ValueOf(FixedPointLogistic(I32(0), kBits)), 1 << 30);
}

TEST(FixedPoint, ShiftLeftWithinBoundsEndsAt2To30) {
  constexpr int64_t kBound = 1 << 30;
  for (const int exponent : {0, 1, 7, 29, 30}) {
    for (const int32_t x : Interesting()) {
      const int64_t exact = int64_t{x} * (int64_t{1} << exponent);
      const int64_t found = ValueOf(ShiftLeftWithinBounds(I32(x), I32(exponent)));
      if (exact >= -kBound && exact <= kBound) {
        EXPECT_EQ(found, exact) << x << " << " << exponent;
      } else {
        EXPECT_EQ(found, exact > 0 ? kBound : -kBound) << x << " << " << exponent;
      }
    }
  }
}

}  // namespace
}  // namespace kiln
