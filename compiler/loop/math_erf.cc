// SPDX-License-Identifier: Apache-2.0
// The error function, and GELU, which is based on it.
#include "compiler/loop/math.h"
#include "compiler/loop/math_kernel.h"

namespace kiln::loop {
namespace {

// x (1 + P(x^2)) below 1.2. Above, 1 - Q(|x|)^-16, the form of M. Abramowitz and I. Stegun,
// "Handbook of mathematical functions", 7.1.28.
Expr ErfFloat32(const Expr& x) {
  const Expr square = x * x;
  const Expr small = x + x * Polynomial(square,
                                        {0.128379151, -0.376125336, 0.112826467, -0.0268188789,
                                         0.00512936991, -0.000754941488, 6.49551293e-05},
                                        {});
  const Expr a = Abs(x);
  const Expr q = Polynomial(a,
                            {1.00093782, 0.066724062, 0.0487060919, 0.00346199004, 0.0031119734,
                             -0.00052751624, 0.000133669921},
                            {});
  const Expr q2 = q * q, q4 = q2 * q2, q8 = q4 * q4;
  return MakeSelect(a < Like(x, 1.2), small, CopySign(1 - 1 / (q8 * q8), x));
}

// x (1 + P(x^2)) below 1. Above, 1 - erfc(x) with erfc(x) = exp(-x^2) Q(t), t = (x - 3) / (x + 3).
Expr ErfFloat64(const Expr& x) {
  const Expr square = x * x;
  const Expr small =
      x + x * Polynomial(square, {},
                         {0.1283791670955126, -0.3761263890318375, 0.11283791670954857,
                          -0.026866170645072913, 0.0052239776247810215, -0.0008548326978750365,
                          0.00012055331037174338, -1.4925593513010808e-05, 1.6460972908388952e-06,
                          -1.635002612698849e-07, 1.4657885539720213e-08, -1.1365686655535585e-09,
                          5.945294745013768e-11});
  const Expr a = Min(Abs(x), Like(x, 6));
  const Expr t = (a - 3) / (a + 3);
  const Expr q = Polynomial(t, {},
                            {0.17900115118138996, -0.32623356004303733, 0.24560380171233548,
                             -0.15011593650075722, 0.07166583719741063, -0.024392499320213635,
                             0.004269136358910804, 0.0007077465008725894, -0.0005970625133648856,
                             4.5253896405224024e-05, 6.406265080761317e-05, -1.2842911795102479e-05,
                             -8.00695311848197e-06, 2.006834710756372e-06, 1.2644578689058304e-06});
  const Expr large = CopySign(1 - q * ExpOfNonPositive(-(a * a)), x);
  return MakeSelect(Abs(x) < 1, small, large);
}

// max(x, 0) - a Phi(-a) with a = |x|, where Phi(-a) = erfc(a / sqrt(2)) / 2 = 2^-p(a). The
// polynomial p gives Phi(-a) an error of 2^-26.4 and a Phi(-a) one of 2^-25.9. A result that is
// rounded to float16 is therefore within one place of the exact one. Beyond 5.9, where Phi is less
// than that, its error grows. From 10.1 on, a Phi(-a) would leave the range of floats.
Expr GeluFloat32(const Expr& x) {
  const Expr a = Min(Abs(x), Like(x, 10.1));
  const Expr exponent =
      Polynomial(a,
                 {-1, -1.15110576, -0.459202051, -0.0525202341, 0.00710571092, -0.000174774104,
                  -0.000168409329, 3.52300594e-05, -2.45761112e-06},
                 {});
  const Rounded rounded = RoundToBits(exponent, ExponentBias(x));
  const Expr power = Polynomial(
      exponent - rounded.n, {1, 0.69314698, 0.24022242, 0.05550734, 0.00967151, 0.00132647}, {});
  const Expr scale = PowerOfBiased(x, rounded.bits);
  return Max(x, Like(x, 0)) - power * (a * scale);
}

Expr GeluFloat64(const Expr& x) {
  return x * Like(x, 0.5) * (1 + ErfFloat64(x * Like(x, 0x1.6a09e667f3bcdp-1)));
}

}  // namespace

Expr Gelu(Expr x) { return IsFloat64(x) ? GeluFloat64(x) : GeluFloat32(x); }

Expr Erf(Expr x) { return IsFloat64(x) ? ErfFloat64(x) : ErfFloat32(x); }

}  // namespace kiln::loop
