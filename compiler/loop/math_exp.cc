// SPDX-License-Identifier: Apache-2.0
// The exponential and its relatives.
#include "compiler/loop/math.h"
#include "compiler/loop/math_kernel.h"

namespace kiln::loop {
namespace {

int MantissaBits(const Expr& x) { return IsFloat64(x) ? 52 : 23; }

// x = n * ln2 + r with an integer n and |r| <= ln2 / 2.
struct Reduction {
  Expr n_bits;  // from RoundToBits
  Expr r;
};

// |x| must stay below 2^20.
Reduction Reduce(const Expr& x, int offset = 0) {
  const Rounded rounded = RoundToBits(x * Like(x, kLog2E), offset);
  const Expr& n = rounded.n;
  // ln2 as the sum of two constants. The product of n with the first is exact.
  const Expr high = Like(x, 0x1.62e4p-1, 0x1.62e42fefa3p-1);
  const Expr low = Like(x, 1.42860677e-06, 2.8235290563031577e-13);
  return {rounded.bits, x - n * high - n * low};
}

// 2^(n + offset), from the bits of a Reduction.
Expr PowerOfTwo(const Expr& like, const Expr& n_bits, int offset) {
  const int shift = MantissaBits(like);
  return FromBits(Shl(n_bits, shift) + (int64_t{ExponentBias(like) + offset} << shift));
}

// exp(r) - 1.
Expr Expm1OfReduced(const Expr& r) {
  return r + r * r *
                 Polynomial(r, {0.49999994, 0.166665167, 0.0416681021, 0.00836919248, 0.0013838904},
                            {0.5000000000000001, 0.1666666666666667, 0.04166666666665229,
                             0.008333333333326153, 0.0013888888895597074, 0.00019841269874764703,
                             2.4801574538175155e-05, 2.7557255462408837e-06, 2.7567927166517735e-07,
                             2.5105193949296523e-08, 1.7687714378300212e-09});
}

// exp(r) - 1 with a small relative error also near r = 0, where no 1 is added that would hide it.
// float32 needs one more term.
Expr PreciseExpm1OfReduced(const Expr& r) {
  if (IsFloat64(r)) return Expm1OfReduced(r);
  return r + r * r *
                 Polynomial(
                     r,
                     {0.5, 0.166666657, 0.0416664667, 0.0083336439, 0.00139349792, 0.000196606838},
                     {});
}

// exp(x + low) * 2^scale. `low` is as small as a rounding error of x; an empty expression means 0.
Expr ScaledExpOfSum(const Expr& x, const Expr& low, int scale) {
  // Beyond these limits the result is 0 or infinity. The order of operands keeps a NaN.
  Reduction reduced = Reduce(Min(Max(x, Like(x, -104, -746)), Like(x, 90, 711)));
  if (low.get() != nullptr) reduced.r = reduced.r + low;
  // 2^n is applied as two factors, because n exceeds the range of exponents. The last product
  // rounds subnormal results.
  const Expr half = Shr(reduced.n_bits, 1);
  const Expr first = PowerOfTwo(x, half, 0);
  const Expr second = PowerOfTwo(x, reduced.n_bits - half, scale);
  return (1 + Expm1OfReduced(reduced.r)) * first * second;
}

}  // namespace

int ExponentBias(const Expr& x) { return IsFloat64(x) ? 1023 : 127; }

// The addition of 1.5 * 2^mantissa_bits + offset rounds to nearest even on every machine.
// PowerOfBiased shifts its other bits out.
Rounded RoundToBits(const Expr& x, int offset) {
  const Expr magic = Like(x, 0x1.8p23 + offset, 0x1.8p52 + offset);
  const Expr shifted = x + magic;
  return {shifted - magic, BitsOf(shifted)};
}

Expr PowerOfBiased(const Expr& like, const Expr& bits) {
  return FromBits(Shl(bits, MantissaBits(like)));
}

Expr ScaledExp(const Expr& x, int scale) { return ScaledExpOfSum(x, {}, scale); }
Expr ExpOfSum(const Expr& x, const Expr& low) { return ScaledExpOfSum(x, low, 0); }

// Below -88 (float64: -709) the bits of the exponent are those of 0, which makes the product 0. A
// subnormal product would be slow on many machines, and all masked scores of a softmax would be
// subnormal.
Expr ExpOfNonPositive(Expr x) {
  const Reduction reduced = Reduce(Max(x, Like(x, -88, -709)), ExponentBias(x));
  const Expr scale = PowerOfBiased(x, reduced.n_bits);
  return scale * Expm1OfReduced(reduced.r) + scale;
}

Expr Exp(Expr x) { return ScaledExp(x, 0); }

Expr Expm1(Expr x) {
  const Reduction reduced = Reduce(Min(Max(x, Like(x, -20, -40)), Like(x, 89, 710)));
  const Expr p = PreciseExpm1OfReduced(reduced.r);
  // 2^n p + (2^n - 1), computed at half its size so that 2^n does not overflow before the result
  // does.
  const Expr scale = PowerOfTwo(x, reduced.n_bits, -1);
  const Expr y = (scale * p + (scale - Like(x, 0.5))) * 2;
  return MakeSelect(Abs(x) < Like(x, 0x1p-25, 0x1p-54), x, y);
}

Expr Sinh(Expr x) {
  const Expr z = x * x;
  const Expr small =
      x + x * z *
              Polynomial(z, {0.166667163, 0.00833027065, 0.000203733405},
                         {0.16666666666666666, 0.008333333333333333, 0.000198412698412696,
                          2.755731922411627e-06, 2.5052108346512814e-08, 1.6059050600813856e-10,
                          7.646482923087189e-13, 2.848232330489354e-15});
  const Expr half_exp = ScaledExp(Abs(x), -1);
  const Expr large = CopySign(half_exp - Like(x, 0.25) / half_exp, x);
  return MakeSelect(Abs(x) < 1, small, large);
}

Expr Cosh(Expr x) {
  const Expr half_exp = ScaledExp(Abs(x), -1);
  return half_exp + Like(x, 0.25) / half_exp;
}

// (exp(2 |x|) - 1) / (exp(2 |x|) + 1). The argument is limited to a value for which this rounds to
// 1.
Expr Tanh(Expr x) {
  const Reduction reduced = Reduce(Min(Abs(x), Like(x, 10, 22)) * 2, ExponentBias(x));
  const Expr scale = PowerOfBiased(x, reduced.n_bits);
  const Expr t = scale * PreciseExpm1OfReduced(reduced.r) + (scale - 1);
  return CopySign(t / (t + 2), x);
}

// exp(x) / (1 + exp(x)), with both multiplied by 2^24 (float64: 2^54), so that only the division
// rounds subnormal results. From 18 (40) on, the sum loses the 1.
Expr Sigmoid(Expr x) {
  const int scale = IsFloat64(x) ? 54 : 24;
  const Reduction reduced =
      Reduce(Min(Max(x, Like(x, -104, -746)), Like(x, 18, 40)), ExponentBias(x) + scale);
  const Expr e = (1 + Expm1OfReduced(reduced.r)) * PowerOfBiased(x, reduced.n_bits);
  return e / (e + Like(x, 0x1p24, 0x1p54));
}

}  // namespace kiln::loop
