// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/range.h"

#include <algorithm>

namespace kiln::loop {
namespace {

// An end of a range: the exact value, or infinite.
using Wide = __int128;

int64_t Saturate(Wide v) {
  if (v <= Range::kNegInf) return Range::kNegInf;
  if (v >= Range::kPosInf) return Range::kPosInf;
  return static_cast<int64_t>(v);
}

bool Infinite(int64_t end) { return end == Range::kNegInf || end == Range::kPosInf; }

int64_t MultiplyEnds(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (Infinite(a) || Infinite(b)) return (a < 0) == (b < 0) ? Range::kPosInf : Range::kNegInf;
  return Saturate(static_cast<Wide>(a) * b);
}

}  // namespace

Range Range::OfType(DType dtype) {
  if (dtype.is_bool()) return {0, 1};
  if (dtype.is_uint() && dtype.bits == 64) return {};
  if (!dtype.is_integral()) return {};
  return {dtype.MinInt(), dtype.MaxInt()};
}

Range Add(Range a, Range b) {
  Range r;
  if (a.lo != Range::kNegInf && b.lo != Range::kNegInf)
    r.lo = Saturate(static_cast<Wide>(a.lo) + b.lo);
  if (a.hi != Range::kPosInf && b.hi != Range::kPosInf)
    r.hi = Saturate(static_cast<Wide>(a.hi) + b.hi);
  return r;
}

Range Negate(Range a) { return Multiply(a, Range::Point(-1)); }

Range Multiply(Range a, Range b) {
  const int64_t ends[] = {MultiplyEnds(a.lo, b.lo), MultiplyEnds(a.lo, b.hi),
                          MultiplyEnds(a.hi, b.lo), MultiplyEnds(a.hi, b.hi)};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

Range TruncatingDivide(Range a, int64_t divisor) {
  Range r;
  if (a.lo != Range::kNegInf) r.lo = a.lo / divisor;
  if (a.hi != Range::kPosInf) r.hi = a.hi / divisor;
  return r;
}

Range TruncatingMod(Range a, int64_t divisor) {
  if (a.bounded() && a.lo / divisor == a.hi / divisor) return {a.lo % divisor, a.hi % divisor};
  Range r = {1 - divisor, divisor - 1};
  if (a.lo >= 0) r = {0, std::min(a.hi, divisor - 1)};
  if (a.hi <= 0) r = {std::max(a.lo, 1 - divisor), 0};
  return r;
}

Range MinOf(Range a, Range b) { return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; }
Range MaxOf(Range a, Range b) { return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; }
Range Union(Range a, Range b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
Range Intersect(Range a, Range b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }

}  // namespace kiln::loop
