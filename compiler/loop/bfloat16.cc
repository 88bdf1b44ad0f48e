// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/bfloat16.h"

#include <limits>

namespace kiln::loop {
namespace {

Expr Magnitude(const Expr& x) { return MakeUnary(UnaryOp::kAbs, x); }

Expr SmallestNormal(const Expr& like) {
  return Const(like.type(), std::numeric_limits<float>::min());
}

// Zero with the sign of x.
Expr ZeroLike(const Expr& x) {
  constexpr int64_t kSign = 0x80000000;
  const Expr bits = MakeBitcast(DType::UInt(32), x);
  return MakeBitcast(kF32, MakeBinary(BinaryOp::kAnd, bits, IntConst(bits.type(), kSign)));
}

// Replaces a subnormal x by zero with its sign.
Expr Flushed(const Expr& x) { return MakeSelect(Magnitude(x) < SmallestNormal(x), ZeroLike(x), x); }

}  // namespace

Expr AddSumOfBFloats(const Expr& sum, const Expr& apart) { return Flushed(Flushed(sum) + apart); }

Expr AddBFloatProduct(const Expr& sum, const Expr& a, const Expr& b) {
  const Expr x = Flushed(MakeCast(kF32, a)), y = Flushed(MakeCast(kF32, b)), s = Flushed(sum);
  const Expr rounded = MakeFma(x, y, s);
  const auto wide = [](const Expr& e) { return MakeCast(kF64, e); };
  // The rounding error of the fma. Just below 2^-126, half a unit of the 24th bit is 2^-151 if the
  // exponent is not limited.
  const Expr rest = wide(s) - wide(rounded) + wide(x) * wide(y);
  const Expr was_less = wide(rounded) * rest < Const(rest.type(), -0x1p-126 * 0x1p-151);
  const Expr magnitude = Magnitude(rounded), smallest = SmallestNormal(rounded);
  const Expr is_small = magnitude < smallest || (magnitude == smallest && was_less);
  return MakeSelect(is_small, ZeroLike(rounded), rounded);
}

}  // namespace kiln::loop
