// SPDX-License-Identifier: Apache-2.0
// Range: an inclusive interval of integers, possibly unbounded, and its arithmetic. Simplify bases
// its decisions on ranges.
#ifndef KILN_COMPILER_LOOP_RANGE_H_
#define KILN_COMPILER_LOOP_RANGE_H_

#include <cstdint>
#include <limits>

#include "compiler/base/dtype.h"

namespace kiln::loop {

struct Range {
  // The limits of int64 mean "not bounded".
  static constexpr int64_t kNegInf = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kPosInf = std::numeric_limits<int64_t>::max();

  int64_t lo = kNegInf;
  int64_t hi = kPosInf;

  static constexpr Range Point(int64_t v) { return {v, v}; }
  // All values of an integer type or bool.
  static Range OfType(DType dtype);

  constexpr bool bounded() const { return lo != kNegInf && hi != kPosInf; }
  constexpr bool is_point() const { return lo == hi; }
  constexpr bool within(const Range& other) const { return lo >= other.lo && hi <= other.hi; }

  friend constexpr bool operator==(const Range&, const Range&) = default;
};

// The results contain every result of the operation on members of the operands. Bounds beyond int64
// become unbounded.
Range Add(Range a, Range b);
Range Negate(Range a);
Range Multiply(Range a, Range b);
Range TruncatingDivide(Range a, int64_t divisor);  // divisor > 0
Range TruncatingMod(Range a, int64_t divisor);     // divisor > 0
Range MinOf(Range a, Range b);
Range MaxOf(Range a, Range b);
Range Union(Range a, Range b);
Range Intersect(Range a, Range b);

// Quotient and remainder rounded towards minus infinity; b > 0.
inline int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
inline int64_t FloorModulo(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_RANGE_H_
