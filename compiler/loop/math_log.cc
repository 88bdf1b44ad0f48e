// SPDX-License-Identifier: Apache-2.0
// Logarithms and the inverse hyperbolic functions.
#include "compiler/loop/math.h"
#include "compiler/loop/math_kernel.h"

namespace kiln::loop {
namespace {

// A constant as the sum of two numbers. The product of an exponent with the first is exact.
struct TwoPart {
  Expr high, low;
};

TwoPart Ln2(const Expr& x) {
  return {Like(x, 0x1.62e4p-1, 0x1.62e42fefa3p-1), Like(x, 1.42860677e-06, 2.8235290563031577e-13)};
}

TwoPart Log10Of2(const Expr& x) {
  return {Like(x, 0x1.344p-2, 0x1.34413509f6p-2), Like(x, 4.60503907e-06, 3.694239077158931e-13)};
}

}  // namespace

SplitFloat Split(const Expr& x) {
  const bool wide = IsFloat64(x);
  const int mantissa_bits = wide ? 52 : 23;
  // Subnormal numbers are made normal first.
  const Expr tiny = x < Like(x, 0x1p-126, 0x1p-1022);
  const Expr bits = BitsOf(MakeSelect(tiny, x * Like(x, 0x1p23, 0x1p52), x));
  const Expr adjustment = MakeSelect(tiny, Like(x, -mantissa_bits), Like(x, 0));
  // Exponents are relative to sqrt(1/2). `base` is its bits.
  const int64_t base = wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  const Expr exponent = Shr(bits - base, mantissa_bits);
  return {MakeCast(x.type(), exponent) + adjustment, FromBits(bits - Shl(exponent, mantissa_bits))};
}

// With s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + R)), where s R is the
// series of 2 atanh(s) without 2 s.
Expr LogOfMantissa(const Expr& mantissa) {
  const Expr f = mantissa - 1;
  const Expr s = f / (f + 2);
  const Expr z = s * s;
  const Expr r = z * Polynomial(z, {0.666667759, 0.399775833, 0.29870829},
                                {0.6666666666666734, 0.3999999999941566, 0.2857142874219046,
                                 0.22222198591368286, 0.18183563484720047, 0.15314069508799263,
                                 0.1479578488253352});
  const Expr half_square = Like(f, 0.5) * f * f;
  return f - (half_square - s * (half_square + r));
}

Expr WithLogSpecials(const Expr& x, const Expr& y) {
  const Expr finite = MakeSelect(x < Like(x, kInfinity), y, x);  // a NaN and infinity are kept
  const Expr not_positive = MakeSelect(x < 0, Like(x, kNan), Like(x, -kInfinity));
  return MakeSelect(x <= 0, not_positive, finite);
}

Expr Log(Expr x) {
  const auto [exponent, mantissa] = Split(x);
  const TwoPart ln2 = Ln2(x);
  return WithLogSpecials(x, exponent * ln2.high + (exponent * ln2.low + LogOfMantissa(mantissa)));
}

Expr Log2(Expr x) {
  const auto [exponent, mantissa] = Split(x);
  return WithLogSpecials(x, exponent + LogOfMantissa(mantissa) * Like(x, kLog2E));
}

Expr Log10(Expr x) {
  const auto [exponent, mantissa] = Split(x);
  const TwoPart log10_2 = Log10Of2(x);
  return WithLogSpecials(
      x, exponent * log10_2.high +
             (exponent * log10_2.low + LogOfMantissa(mantissa) * Like(x, 0.4342944819032518)));
}

Expr Log1p(Expr x) {
  // log(1 + x) = log(sum) + lost / sum, where sum is 1 + x rounded and lost is the rounding error.
  const Expr sum = 1 + x;
  const Expr part = sum - 1;
  const Expr lost = (1 - (sum - part)) + (x - part);
  const Expr y = Log(sum) + lost / sum;
  const Expr special =
      MakeSelect(x == -1, Like(x, -kInfinity), MakeSelect(x < -1, Like(x, kNan), x));
  const Expr ordinary = x > -1 && x < Like(x, kInfinity);
  const Expr tiny = Abs(x) < Like(x, 0x1p-25, 0x1p-54);
  return MakeSelect(ordinary && Not(tiny), y, special);
}

// max(x, 0) + log(1 + e) with e = exp(-|x|): with t = 2 e / (2 + e), log(1 + e) = 2 atanh(t / 2).
Expr Softplus(Expr x) {
  const Expr e = Exp(-Abs(x)), positive = Max(x, Like(x, 0));
  if (IsFloat64(x)) return positive + Log1p(e);
  const Expr t = e / (e * Like(x, 0.5) + 1);
  const Expr z = t * t;
  const Expr rest =
      z * Polynomial(z, {0.0833330229, 0.0125067271, 0.0021876411, 0.000547109114}, {});
  return positive + (t + t * rest);
}

// asinh(x) = log(|x| + sqrt(x^2 + 1)), without cancellation for small x and without overflow for
// large x.
Expr Asinh(Expr x) {
  const Expr a = Abs(x);
  const Expr large = a > Like(x, 0x1p28, 0x1p54);
  const Expr square = a * a;
  const Expr shifted = a + square / (1 + Sqrt(square + 1));
  const Expr y = Log1p(MakeSelect(large, a, shifted));
  return CopySign(y + MakeSelect(large, Like(x, kLn2), Like(x, 0)), x);
}

Expr Acosh(Expr x) {
  const Expr t = x - 1;
  const Expr large = x > Like(x, 0x1p28, 0x1p54);
  const Expr y = Log1p(MakeSelect(large, x, t + Sqrt(t * (t + 2))));
  return MakeSelect(x < 1, Like(x, kNan), y + MakeSelect(large, Like(x, kLn2), Like(x, 0)));
}

// atanh(x) = log((1 + x) / (1 - x)) / 2 = log1p(2 x + 2 x^2 / (1 - x)) / 2.
Expr Atanh(Expr x) {
  const Expr a = Abs(x);
  const Expr twice = a + a;
  const Expr small = twice + twice * a / (1 - a);
  const Expr y = Log1p(MakeSelect(a < Like(x, 0.5), small, twice / (1 - a)));
  return CopySign(y * Like(x, 0.5), x);
}

}  // namespace kiln::loop
