// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/sum_of_bytes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "compiler/base/status.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/passes.h"

namespace kiln {
namespace {

constexpr int64_t kNumbers = 256;
constexpr int kMaxProductShift = 30;
// Distance up to which multipliers are tried around the nearest one. A slightly larger multiplier
// can decide exact halves, and a neighbor may match values that the nearest one misses.
constexpr int64_t kNeighbours = 3;

// The largest shift with which no part of the sum leaves int32.
int ShiftOf(DType dtype, const LinearFactors& f) {
  const auto largest = static_cast<double>(std::max(-dtype.MinInt(), dtype.MaxInt()));
  const double most =
      (largest + 1) * (std::abs(f.lhs) + std::abs(f.rhs)) + std::abs(f.constant) + 1;
  return std::min(kMaxProductShift, 31 - static_cast<int>(std::ceil(std::log2(most))));
}

// With the given multipliers, the constants from `low` to `high` give
// `values`. None do if low > high.
struct Constants {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
};
Constants ConstantsOf(DType dtype, int64_t lhs, int64_t rhs, int shift,
                      const std::vector<int64_t>& values) {
  Constants c;
  const int64_t lowest = dtype.MinInt(), unit = int64_t{1} << shift;
  for (int64_t a = 0; a < kNumbers && c.low <= c.high; ++a) {
    for (int64_t b = 0; b < kNumbers; ++b) {
      const int64_t value = values[static_cast<size_t>(a * kNumbers + b)];
      const int64_t sum = lhs * (a + lowest) + rhs * (b + lowest);
      if (value > lowest) c.low = std::max(c.low, value * unit - sum);
      if (value < dtype.MaxInt()) c.high = std::min(c.high, (value + 1) * unit - 1 - sum);
    }
  }
  return c;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ValuesOfPairs(
    DType dtype, const std::function<loop::Expr(const loop::Expr& a, const loop::Expr& b)>& value) {
  const auto param = [&](const char* name, Shape shape) {
    return loop::MakeBuffer(name, dtype, std::move(shape), loop::BufferScope::kParam);
  };
  const loop::Buffer lhs = param("lhs", {kNumbers}), rhs = param("rhs", {kNumbers}),
                     out = param("out", {kNumbers, kNumbers});
  const loop::Var a = loop::MakeVar("a"), b = loop::MakeVar("b");
  const loop::Stmt store =
      loop::MakeStore(out, {a, b}, value(loop::MakeLoad(lhs, {a}), loop::MakeLoad(rhs, {b})));
  const loop::Stmt row = loop::MakeFor(b, 0, kNumbers, loop::ForKind::kVectorized, store);
  loop::Func func{.name = "pairs", .params = {lhs, rhs, out}, .num_inputs = 2};
  func.body = loop::MakeFor(a, 0, kNumbers, loop::ForKind::kSerial, row);
  func.body = loop::VectorizeLoops(loop::FlattenBuffers(func.body), 32 * kNumbers);
  loop::LoopProgram program;
  program.funcs.push_back(std::move(func));

  std::string numbers, result(kNumbers * kNumbers, '\0');
  for (int64_t n = dtype.MinInt(); n <= dtype.MaxInt(); ++n) {
    numbers.push_back(static_cast<char>(n));
  }
  void* const args[] = {numbers.data(), numbers.data(), result.data()};
  KILN_RETURN_IF_ERROR(loop::Interpreter(program).Run("pairs", args));
  std::vector<int64_t> values;
  for (const char c : result) {
    values.push_back(dtype.is_int() ? int64_t{static_cast<int8_t>(c)}
                                    : int64_t{static_cast<uint8_t>(c)});
  }
  return values;
}

std::optional<SumOfBytes> FitSumOfBytes(DType dtype, const LinearFactors& factors,
                                        const std::vector<int64_t>& values) {
  const int shift = ShiftOf(dtype, factors);
  if (shift < 0) return std::nullopt;
  const int64_t lhs = std::llround(std::ldexp(factors.lhs, shift));
  const int64_t rhs = std::llround(std::ldexp(factors.rhs, shift));
  const int64_t largest = std::max(-dtype.MinInt(), dtype.MaxInt());
  for (int64_t distance = 0; distance <= kNeighbours; ++distance) {
    for (int64_t l = -distance; l <= distance; ++l) {
      for (int64_t r = -distance; r <= distance; ++r) {
        if (std::max(std::abs(l), std::abs(r)) != distance) continue;
        const Constants c = ConstantsOf(dtype, lhs + l, rhs + r, shift, values);
        if (c.low > c.high) continue;
        const int64_t constant = c.low + (c.high - c.low) / 2;
        const int64_t most = largest * (std::abs(lhs + l) + std::abs(rhs + r)) + std::abs(constant);
        if (most > std::numeric_limits<int32_t>::max()) continue;
        return SumOfBytes{.lhs = static_cast<int32_t>(lhs + l),
                          .rhs = static_cast<int32_t>(rhs + r),
                          .constant = static_cast<int32_t>(constant),
                          .shift = shift};
      }
    }
  }
  return std::nullopt;
}

}  // namespace kiln
