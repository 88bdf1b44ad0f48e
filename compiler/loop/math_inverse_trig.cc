// SPDX-License-Identifier: Apache-2.0
// Arcsine, arccosine, arctangent.
#include "compiler/loop/math.h"
#include "compiler/loop/math_kernel.h"

namespace kiln::loop {
namespace {

// pi/2 minus its rounded value in the type of x.
Expr HalfPiLow(const Expr& x) { return Like(x, -4.37113883e-08, 6.123233995736766e-17); }

// asin(s) for 0 <= s <= 1/2; z is s^2.
Expr AsinOfSmall(const Expr& s, const Expr& z) {
  return s + s * z *
                 Polynomial(z,
                            {0.166667521, 0.0749530941, 0.0454691537, 0.0241847429, 0.0421583876},
                            {0.1666666666666676, 0.07499999999970815, 0.044642857174597185,
                             0.03038194270847652, 0.022372214968544787, 0.01735161234935645,
                             0.01398081660801096, 0.011398943774433335, 0.010780079745355576,
                             0.0037070484743172948, 0.021705922459367484, -0.020996946839906907,
                             0.03262732477139653});
}

// asin(|x|) is `y` for |x| up to 1/2, and pi/2 - 2 y above.
struct HalfAngle {
  Expr is_large;
  Expr y;
};

HalfAngle SplitAsin(const Expr& x) {
  const Expr a = Abs(x);
  const Expr is_large = a > Like(x, 0.5);
  const Expr z = MakeSelect(is_large, Like(x, 0.5) * (1 - a), a * a);
  const Expr s = MakeSelect(is_large, Sqrt(z), a);  // NaN if |x| > 1
  return {is_large, AsinOfSmall(s, z)};
}

}  // namespace

Expr Asin(Expr x) {
  const auto [is_large, y] = SplitAsin(x);
  const Expr large = Like(x, kHalfPi) - (y + y - HalfPiLow(x));
  return CopySign(MakeSelect(is_large, large, y), x);
}

Expr Acos(Expr x) {
  const auto [is_large, y] = SplitAsin(x);
  const Expr twice = y + y;
  const Expr from_pi = 2 * Like(x, kHalfPi) - (twice - 2 * HalfPiLow(x));
  const Expr small = Like(x, kHalfPi) - (CopySign(y, x) - HalfPiLow(x));
  return MakeSelect(is_large, MakeSelect(x < 0, from_pi, twice), small);
}

// Reduces around 0, 1 and infinity by atan(a) = atan(b) + atan((a - b) / (1 + a b)), so that the
// argument of the polynomial is at most tan(pi/8).
Expr Atan(Expr x) {
  const Expr a = Abs(x);
  const Expr above = a > Like(x, 2.414213562373095);
  const Expr middle = a > Like(x, 0.4142135623730950);
  const Expr numerator = MakeSelect(above, Like(x, -1), MakeSelect(middle, a - 1, a));
  const Expr denominator = MakeSelect(above, a, MakeSelect(middle, a + 1, Like(x, 1)));
  const Expr t = numerator / denominator;
  const Expr z = t * t;
  const Expr p = t * z *
                 Polynomial(z, {-0.333329499, 0.199777275, -0.138777986, 0.0805395618},
                            {-0.333333333333332, 0.19999999999953177, -0.14285714280158843,
                             0.1111111078174445, -0.09090897712809602, 0.07692059485916523,
                             -0.06663096467157242, 0.05847838663721701, -0.050390946738050765,
                             0.038059639227876106, -0.017902231843603705});
  const auto by_interval = [&](double at_infinity, double at_one) {
    return MakeSelect(above, Like(x, at_infinity), MakeSelect(middle, Like(x, at_one), Like(x, 0)));
  };
  const double low = IsFloat64(x) ? 6.123233995736766e-17 : -4.37113883e-08;
  return CopySign(by_interval(kHalfPi, kHalfPi / 2) + (by_interval(low, low / 2) + p + t), x);
}

}  // namespace kiln::loop
