// SPDX-License-Identifier: Apache-2.0
// Rounding, roots, classification, shifts, and division that rounds down.
#include <bit>

#include "compiler/loop/check.h"
#include "compiler/loop/math.h"
#include "compiler/loop/math_kernel.h"

namespace kiln::loop {
namespace {

// Returns k if `e` is the constant 2^k, otherwise -1. Also returns -1 for indices: they keep their
// division, for which Simplify has more rules than for shifts.
int ExponentOfTwo(const Expr& e, const Type& type) {
  int64_t value;
  if (type.index || !AsInt(e, &value) || value <= 0 ||
      !std::has_single_bit(static_cast<uint64_t>(value))) {
    return -1;
  }
  return std::countr_zero(static_cast<uint64_t>(value));
}

// True if the remainder of the truncating division must be moved to the divisor's sign.
Expr NeedsCorrection(const Expr& remainder, const Expr& b) {
  int64_t divisor;
  if (AsInt(b, &divisor) && divisor > 0) return remainder < 0;
  return remainder != 0 && MakeBinary(BinaryOp::kXor, remainder, b) < 0;
}

}  // namespace

Expr Sqrt(Expr x) { return MakeUnary(UnaryOp::kSqrt, std::move(x)); }
Expr Rsqrt(Expr x) {
  const Expr one = Like(x, 1);
  return one / Sqrt(std::move(x));
}
Expr Floor(Expr x) { return MakeUnary(UnaryOp::kFloor, std::move(x)); }
Expr Ceil(Expr x) { return MakeUnary(UnaryOp::kCeil, std::move(x)); }
Expr Trunc(Expr x) { return MakeUnary(UnaryOp::kTrunc, std::move(x)); }
Expr RoundEven(Expr x) { return MakeUnary(UnaryOp::kRoundEven, std::move(x)); }
Expr Abs(Expr x) { return MakeUnary(UnaryOp::kAbs, std::move(x)); }

Expr RoundAway(Expr x) {
  if (!x.type().dtype.is_float()) return x;
  const Expr whole = Trunc(x);
  const Expr away = whole + CopySign(Like(x, 1), x);
  return MakeSelect(Abs(x - whole) >= Like(x, 0.5), away, whole);  // x - whole is exact
}

Expr IsNan(Expr x) { return x != x; }

Expr IsInf(Expr x) {
  if (!x.type().dtype.is_float()) return IsNan(std::move(x));  // false
  const Expr infinity = Like(x, kInfinity);
  return Abs(std::move(x)) == infinity;
}

Expr Shl(Expr a, Expr b) { return MakeBinary(BinaryOp::kShl, std::move(a), std::move(b)); }
Expr Shr(Expr a, Expr b) { return MakeBinary(BinaryOp::kShr, std::move(a), std::move(b)); }

Expr FloorDiv(Expr a, Expr b) {
  KILN_CHECK(a.type().dtype.is_integral(), "FloorDiv of " + a.type().ToString());
  if (a.type().dtype.is_uint()) return a / b;
  if (const int k = ExponentOfTwo(b, a.type()); k >= 0) return Shr(a, k);
  const Expr quotient = a / b;
  return MakeSelect(NeedsCorrection(a % b, b), quotient - 1, quotient);
}

Expr FloorMod(Expr a, Expr b) {
  KILN_CHECK(a.type().dtype.is_integral(), "FloorMod of " + a.type().ToString());
  if (a.type().dtype.is_uint()) return a % b;
  if (const int k = ExponentOfTwo(b, a.type()); k >= 0) {
    return MakeBinary(BinaryOp::kAnd, a, (int64_t{1} << k) - 1);
  }
  const Expr remainder = a % b;
  return MakeSelect(NeedsCorrection(remainder, b), remainder + b, remainder);
}

}  // namespace kiln::loop
