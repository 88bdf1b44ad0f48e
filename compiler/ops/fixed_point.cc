// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/fixed_point.h"

#include <cmath>
#include <limits>

#include "compiler/loop/math.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

using loop::Expr;

constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kMin = std::numeric_limits<int32_t>::min();

Expr I64(int64_t value) { return loop::IntConst(loop::Type::Of(kI64), value); }
Expr And(const Expr& a, const Expr& b) { return loop::MakeBinary(loop::BinaryOp::kAnd, a, b); }

// (a + b) / 2, halves away from zero.
Expr HalfSum(const Expr& a, const Expr& b) {
  const Expr sum = loop::MakeCast(kI64, a) + loop::MakeCast(kI64, b);
  const Expr sign = loop::MakeSelect(sum >= I64(0), I64(1), I64(-1));
  return loop::MakeCast(kI32, (sum + sign) / I64(2));
}

// exp(x) for x in [-1/4, 0), by four terms of Taylor's series around -1/8.
Expr ExpOfQuarter(const Expr& a) {
  const Expr exp_minus_eighth = I32Const(std::lround(std::exp(-0.125) * 0x1p31));
  const Expr third = I32Const(std::lround(0x1p31 / 3));
  const Expr x = a + I32Const(1 << 28);
  const Expr x2 = MultiplyHigh(x, x), x3 = MultiplyHigh(x2, x), x4 = MultiplyHigh(x2, x2);
  const Expr higher =
      DivideByPowerOfTwo(MultiplyHigh(DivideByPowerOfTwo(x4, 2) + x3, third) + x2, 1);
  return exp_minus_eighth + MultiplyHigh(exp_minus_eighth, x + higher);
}

// The reciprocal of `half`, which is (1 + x) / 2, with 2 integer bits, by three
// steps of Newton's method.
Expr ReciprocalOfHalf(const Expr& half) {
  // 48/17 - 32/17 d is the best linear approximation of 1 / d in [1/2, 1].
  Expr x = I32Const(std::lround(48.0 / 17 * 0x1p29)) +
           MultiplyHigh(half, I32Const(std::lround(-32.0 / 17 * 0x1p29)));
  for (int step = 0; step < 3; ++step) {
    const Expr error = I32Const(1 << 29) - MultiplyHigh(half, x);
    x = x + SaturatingShiftLeft(MultiplyHigh(x, error), 2);
  }
  return x;
}

Expr IsNegative(const Expr& x) { return x < I32Const(0); }

}  // namespace

FixedPointFactor ToFixedPoint(double factor) {
  if (factor == 0) return {};
  int shift = 0;
  const double fraction = std::frexp(factor, &shift);
  int64_t multiplier = std::llround(fraction * 0x1p31);
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (shift < -31) return {};
  return {static_cast<int32_t>(multiplier), shift};
}

Expr MultiplyHigh(const Expr& a, const Expr& b) { return loop::RoundingMulHigh(a, b); }

Expr DivideByPowerOfTwo(const Expr& x, int exponent) {
  return loop::RoundingShr(x, I32Const(exponent));
}

Expr DivideByPowerOfTwo(const Expr& x, const Expr& exponent) {
  return loop::RoundingShr(x, exponent);
}

Expr SaturatingShiftLeft(const Expr& x, int exponent) {
  const int64_t limit = (int64_t{1} << (31 - exponent)) - 1;
  return loop::MakeSelect(
      x > I32Const(limit), I32Const(kMax),
      loop::MakeSelect(x < I32Const(-limit - 1), I32Const(kMin), Shl(x, exponent)));
}

Expr ShiftLeftWithinBounds(const Expr& x, const Expr& exponent) {
  constexpr int64_t kBound = 1 << 30;
  const Expr low = Shr(I32Const(-kBound), exponent), high = Shr(I32Const(kBound), exponent);
  return Shl(Max(Min(x, high), low), exponent);
}

Expr CountLeadingZeros(const Expr& x) {
  Expr zeros = I32Const(0), rest = x;
  for (int bits = 16; bits >= 1; bits /= 2) {
    const Expr none = loop::MakeCast(loop::Type::Of(DType::UInt(32)), rest) <
                      loop::IntConst(loop::Type::Of(DType::UInt(32)), int64_t{1} << (32 - bits));
    zeros = loop::MakeSelect(none, zeros + I32Const(bits), zeros);
    rest = loop::MakeSelect(none, Shl(rest, bits), rest);
  }
  return zeros;
}

Expr FixedPointExp(const Expr& x, int integer_bits) {
  const int fraction_bits = 31 - integer_bits;
  const int64_t quarter = int64_t{1} << (fraction_bits - 2);
  const Expr in_quarter = And(x, I32Const(quarter - 1)) - I32Const(quarter);  // in [-1/4, 0)
  Expr result =
      ExpOfQuarter(integer_bits == 0 ? in_quarter : SaturatingShiftLeft(in_quarter, integer_bits));
  const Expr rest = in_quarter - x;  // a multiple of a quarter
  for (int power = -2; power < integer_bits; ++power) {
    const Expr factor = I32Const(std::lround(std::exp(-std::exp2(power)) * 0x1p31));
    const Expr bit = And(rest, I32Const(int64_t{1} << (fraction_bits + power)));
    result = loop::MakeSelect(bit != I32Const(0), MultiplyHigh(result, factor), result);
  }
  return loop::MakeSelect(x == I32Const(0), I32Const(kMax), result);
}

Expr FixedPointOneOverOnePlus(const Expr& x) {
  // ReciprocalOfHalf gives 2 / (1 + x) with 2 integer bits. The same bits with 1 integer bit are
  // half of that. The shift goes from 1 integer bit to none.
  return SaturatingShiftLeft(ReciprocalOfHalf(HalfSum(x, I32Const(kMax))), 1);
}

Expr FixedPointLogistic(const Expr& x, int integer_bits) {
  const Expr negative = IsNegative(x);
  const Expr below = loop::MakeSelect(negative, x, -x);
  const Expr of_magnitude = FixedPointOneOverOnePlus(FixedPointExp(below, integer_bits));
  return loop::MakeSelect(x == I32Const(0), I32Const(int64_t{1} << 30),
                          loop::MakeSelect(negative, I32Const(kMax) - of_magnitude, of_magnitude));
}

Expr FixedPointTanh(const Expr& x, int integer_bits) {
  const Expr negative = IsNegative(x);
  const Expr below = loop::MakeSelect(negative, x, -x);
  // tanh(|x|) is (1 - e) / (1 + e) with e = exp(-2 |x|). The bits of x, read with one more integer
  // bit, are twice the number.
  const Expr e = FixedPointExp(below, integer_bits + 1);
  const Expr reciprocal = ReciprocalOfHalf(HalfSum(e, I32Const(kMax)));
  const Expr of_magnitude = SaturatingShiftLeft(reciprocal - I32Const(1 << 29), 2);
  return loop::MakeSelect(x == I32Const(0), I32Const(0),
                          loop::MakeSelect(negative, -of_magnitude, of_magnitude));
}

Expr FixedPointLog(const Expr& x) {
  constexpr int kInBits = 12, kOutBits = 5, kWideBits = kOutBits + 1;
  const auto fraction = [](double value) { return I32Const(std::llround(value * 0x1p31)); };
  const double root = std::sqrt(std::sqrt(2.0));
  const Expr quarter = I32Const(int64_t{1} << (29 - kWideBits));
  const auto power = [&](const Expr& n) { return Shl(n, 31 - kWideBits); };
  // x is 2^n r with r around 2^(-1/4). Of the two nearest powers, the one with the smaller r is
  // taken.
  const Expr zeros = CountLeadingZeros(x);
  const Expr r_low =
      SaturatingShiftLeft(MultiplyHigh(Shl(x, zeros - I32Const(1)), fraction(std::sqrt(0.5))), 1);
  const Expr n_low = power(I32Const(kInBits) - zeros) + quarter;
  const Expr headroom = CountLeadingZeros(MultiplyHigh(x, fraction(std::sqrt(0.5)))) - I32Const(1);
  const Expr r_high = loop::MakeCast(
      kI32, Min(Shl(loop::MakeCast(kI64, x), loop::MakeCast(kI64, headroom)), I64(kMax)));
  const Expr n_high = power(I32Const(kInBits) - headroom) - quarter;
  const Expr r = Min(r_low, r_high), n = Max(n_low, n_high);
  // log(r) + log(2) / 4 as a quotient of polynomials.
  const Expr p = HalfSum(r, fraction(1 / root)), half_q = r - fraction(1 / root);
  const Expr q = half_q + half_q, q2 = MultiplyHigh(q, q);
  const Expr numerator =
      MultiplyHigh(q, r) + MultiplyHigh(MultiplyHigh(q, q2), fraction(11.0 / 240 * root));
  const Expr denominator =
      MultiplyHigh(p, fraction(2 / root - root) + q + MultiplyHigh(fraction(root / 20), q2)) +
      MultiplyHigh(fraction(root / 4), q);
  const Expr log_r =
      MultiplyHigh(DivideByPowerOfTwo(numerator, kWideBits), FixedPointOneOverOnePlus(denominator));
  return SaturatingShiftLeft(MultiplyHigh(n, fraction(std::log(2.0))) + log_r, 1);
}

}  // namespace kiln
