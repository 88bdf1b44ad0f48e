// SPDX-License-Identifier: Apache-2.0
// Sums of bytes with one rounding give, for every pair of numbers, the results that TFLite and ONNX
// define. The definitions are implemented here a second time.
#include "compiler/ops/sum_of_bytes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/quantized.h"
#include "compiler/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

struct Scales {
  double lhs, rhs, out;
};
struct Zeros {
  int64_t lhs, rhs, out;
};

// gemmlowp's definition: a half with the sign of the product is added, and the quotient truncated.
int64_t MultiplyHighOf(int64_t a, int64_t b) {
  const int64_t product = a * b, nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  return (product + nudge) / (int64_t{1} << 31);
}

// x times a factor below 1: rounded by a multiplier of 31 bits, then by the shift
// with halves away from zero.
int64_t Rescaled(int64_t x, double factor) {
  const FixedPointFactor f = ToFixedPoint(factor);
  const int64_t high = MultiplyHighOf(x, f.multiplier);
  const double exact = static_cast<double>(high) * std::exp2(f.shift);
  return static_cast<int64_t>(exact < 0 ? std::ceil(exact - 0.5) : std::floor(exact + 0.5));
}

int64_t Tflite(int64_t a, int64_t b, const Scales& s, const Zeros& z) {
  const double twice = 2 * std::max(s.lhs, s.rhs);
  const int64_t sum = Rescaled((a - z.lhs) * (1 << 20), s.lhs / twice) +
                      Rescaled((b - z.rhs) * (1 << 20), s.rhs / twice);
  return Rescaled(sum, twice / (std::exp2(20) * s.out)) + z.out;
}

int64_t Even(int64_t a, int64_t b, const Scales& s, const Zeros& z) {
  const auto real = [](int64_t x, double scale) {
    return static_cast<float>(x) * static_cast<float>(scale);
  };
  const float sum = real(a - z.lhs, s.lhs) + real(b - z.rhs, s.rhs);
  return static_cast<int64_t>(std::nearbyint(sum / static_cast<float>(s.out))) + z.out;
}

using Definition = int64_t (*)(int64_t, int64_t, const Scales&, const Zeros&);

std::vector<int64_t> AllPairs(DType dtype, Definition definition, const Scales& s, const Zeros& z) {
  std::vector<int64_t> values;
  for (int64_t a = dtype.MinInt(); a <= dtype.MaxInt(); ++a) {
    for (int64_t b = dtype.MinInt(); b <= dtype.MaxInt(); ++b) {
      values.push_back(std::clamp(definition(a, b, s, z), dtype.MinInt(), dtype.MaxInt()));
    }
  }
  return values;
}

// Results of the operator for every pair.
std::vector<int64_t> Computed(DType dtype, const char* rounding, const Scales& s, const Zeros& z) {
  std::vector<double> numbers;
  for (int64_t n = dtype.MinInt(); n <= dtype.MaxInt(); ++n) {
    numbers.push_back(static_cast<double>(n));
  }
  const Tensor lhs = Values({{256, 1}, dtype}, numbers), rhs = Values({{1, 256}, dtype}, numbers);
  const auto scale = [](double value) { return Tensor::Scalar(DType::Float(64), value); };
  const auto zero = [](int64_t value) { return ZeroPoint(value); };
  const absl::StatusOr<std::vector<Tensor>> outputs = RunOp(
      *FindOp("qnn.add"), {{"rounding", std::string(rounding)}},
      {lhs, rhs, scale(s.lhs), zero(z.lhs), scale(s.rhs), zero(z.rhs), scale(s.out), zero(z.out)});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 65536; ++i) values.push_back((*outputs)[0].AsInt(i));
  return values;
}

struct Case {
  Scales scales;
  Zeros zeros;
};

std::vector<Case> Cases(DType dtype) {
  const int64_t z = dtype.MinInt() + 128;
  // Equal scales, whose sums are halves; scales far apart; sums within the bounds.
  std::vector<Case> cases = {{{0.5, 0.5, 1}, {z, z, z}},
                             {{0.25, 0.25, 0.5}, {z - 3, z + 5, z - 128}},
                             {{0.03, 0.0004, 0.02}, {z, z + 12, z - 7}},
                             {{0.02, 0.02, 0.06}, {z - 1, z, z + 1}}};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> scale(0.005, 0.1);
  std::uniform_int_distribution<int64_t> zero(dtype.MinInt(), dtype.MaxInt());
  for (int i = 0; i < 12; ++i) {
    cases.push_back({{scale(random), scale(random), scale(random) * 2},
                     {zero(random), zero(random), zero(random)}});
  }
  return cases;
}

// Number of cases that can be computed with one rounding. All cases give the definition's numbers.
int CountOfSums(DType dtype, const char* rounding, Definition definition) {
  int count = 0;
  for (const auto& [s, z] : Cases(dtype)) {
    const std::vector<int64_t> values = AllPairs(dtype, definition, s, z);
    EXPECT_EQ(Computed(dtype, rounding, s, z), values) << s.lhs << " " << s.rhs << " " << s.out;
    const double lhs = s.lhs / s.out, rhs = s.rhs / s.out;
    const auto zero = [](int64_t n) { return static_cast<double>(n); };
    count += FitSumOfBytes(dtype, {lhs, rhs, zero(z.out) - lhs * zero(z.lhs) - rhs * zero(z.rhs)},
                           values)
                 .has_value();
  }
  return count;
}

// All cases but the one whose halves are decided by the first two roundings.
TEST(SumOfBytes, IsTflites) {
  EXPECT_EQ(CountOfSums(DType::Int(8), "TFLITE", Tflite), 15);
  EXPECT_EQ(CountOfSums(DType::UInt(8), "TFLITE", Tflite), 15);
}

// Rounding halves to the even neighbor is not linear.
TEST(SumOfBytes, IsOnnxs) {
  EXPECT_EQ(CountOfSums(DType::Int(8), "EVEN", Even), 13);
  EXPECT_EQ(CountOfSums(DType::UInt(8), "EVEN", Even), 13);
}

TEST(SumOfBytes, NoneWhereOperandsAreRounded) {
  const DType dtype = DType::Int(8);
  std::vector<int64_t> values =
      AllPairs(dtype,
               [](int64_t a, int64_t b, const Scales& s, const Zeros&) {
                 return static_cast<int64_t>(std::floor(static_cast<double>(a) * s.lhs + 0.5) +
                                             std::floor(static_cast<double>(b) * s.rhs + 0.5));
               },
               {0.3, 0.6, 1}, {});
  EXPECT_FALSE(FitSumOfBytes(dtype, {0.3, 0.6, 0}, values).has_value());
}

TEST(SumOfBytes, ValuesOfPairsAreInOrder) {
  for (const DType dtype : {DType::Int(8), DType::UInt(8)}) {
    const absl::StatusOr<std::vector<int64_t>> values =
        ValuesOfPairs(dtype, [&](const loop::Expr& a, const loop::Expr& b) { return Max(a, b); });
    ASSERT_TRUE(values.ok()) << values.status();
    ASSERT_EQ(values->size(), 65536u);
    EXPECT_EQ((*values)[0], dtype.MinInt());
    EXPECT_EQ((*values)[3 * 256 + 1], dtype.MinInt() + 3);
    EXPECT_EQ((*values)[1 * 256 + 200], dtype.MinInt() + 200);
  }
}

}  // namespace
}  // namespace kiln
