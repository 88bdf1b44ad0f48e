// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of the elementary functions: points, values from the interpreter, and errors in
// units in the last place (ULP).
#ifndef KILN_COMPILER_LOOP_TESTING_MATH_ERROR_H_
#define KILN_COMPILER_LOOP_TESTING_MATH_ERROR_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "compiler/loop/interpret.h"
#include "gtest/gtest.h"

namespace kiln::loop {

inline constexpr int kLanes = 16;

template <typename T>
DType DTypeOf() {
  return DType::Float(8 * static_cast<int>(sizeof(T)));
}

// Returns f at every point, computed by the interpreter. The points are padded to whole vectors
// with 1.
template <typename T>
std::vector<T> Evaluate(const std::function<Expr(Expr, Expr)>& f, std::vector<T> x,
                        std::vector<T> y) {
  while (x.size() % kLanes != 0) {
    x.push_back(T{1});
    y.push_back(T{1});
  }
  const int64_t n = static_cast<int64_t>(x.size());
  const Buffer in = MakeBuffer("in", DTypeOf<T>(), {n}, BufferScope::kParam);
  const Buffer in2 = MakeBuffer("in2", DTypeOf<T>(), {n}, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", DTypeOf<T>(), {n}, BufferScope::kParam);
  const Var i = MakeVar("i");
  const Expr lanes = MakeRamp(i * kLanes, 1, kLanes);
  LoopProgram program;
  program.funcs.push_back(
      {.name = "f",
       .params = {in, in2, out},
       .num_inputs = 2,
       .body = MakeFor(i, 0, n / kLanes, ForKind::kSerial,
                       MakeStore(out, {lanes}, f(MakeLoad(in, {lanes}), MakeLoad(in2, {lanes}))))});
  std::vector<T> values(x.size());
  const absl::Status status = Interpreter(program).Run("f", {x.data(), y.data(), values.data()});
  EXPECT_TRUE(status.ok()) << status.message();
  return values;
}

// |got - want| in units in the last place of T at `want`; infinite if only one of them is NaN.
template <typename T, typename Wide>
double UlpError(T got, Wide want) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(got) || std::isnan(want)) {
    return std::isnan(got) && std::isnan(want) ? 0 : Limits::infinity();
  }
  // Infinity counts as the first number that is too large.
  const Wide overflow = std::ldexp(Wide{1}, Limits::max_exponent);
  Wide value = got;
  if (std::isinf(value)) value = std::copysign(overflow, value);
  if (std::abs(want) > overflow) want = std::copysign(overflow, want);
  int exponent = Limits::min_exponent;
  if (want != 0) exponent = std::max(std::ilogb(want) + 1, exponent);
  return static_cast<double>(std::abs(value - want) /
                             std::ldexp(Wide{1}, exponent - Limits::digits));
}

inline int NumPoints() {
  const char* points = std::getenv("KILN_MATH_TEST_POINTS");
  return points == nullptr ? 50'000 : std::atoi(points);
}

// Returns numbers of every magnitude and both signs, evenly spread over the bit patterns.
template <typename T>
std::vector<T> AllMagnitudes(int count) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const Bits step =
      static_cast<Bits>(std::numeric_limits<Bits>::max() / static_cast<Bits>(count)) | 1;
  std::vector<T> points;
  Bits bits = 0;
  for (int i = 0; i < count; ++i, bits += step) points.push_back(std::bit_cast<T>(bits));
  return points;
}

template <typename T>
void Append(std::vector<T>& points, double low, double high, int count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(low, high);
  for (int i = 0; i < count; ++i) points.push_back(static_cast<T>(uniform(random)));
}

template <typename T>
std::vector<T> SpecialPoints() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> points;
  for (T x : {T{0}, T{0.25}, T{0.5}, T{1}, T{2}, T{4}, T{10}, T{100}, T{1e6}, Limits::min(),
              Limits::denorm_min(), Limits::epsilon(), Limits::max(), Limits::infinity(),
              Limits::quiet_NaN()}) {
    for (T sign : {T{1}, T{-1}}) {
      points.push_back(sign * x);
      points.push_back(std::nextafter(sign * x, Limits::infinity()));
      points.push_back(std::nextafter(sign * x, -Limits::infinity()));
    }
  }
  // The neighbors of multiples of pi/2, at which sin or cos is closest to 0.
  for (int i = 1; i < 1000; ++i) {
    points.push_back(static_cast<T>(i * 1.5707963267948966192L));
    points.push_back(static_cast<T>(std::ldexp(i * 1.5707963267948966192L, i % 90)));
  }
  return points;
}

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_TESTING_MATH_ERROR_H_
