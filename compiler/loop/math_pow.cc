// SPDX-License-Identifier: Apache-2.0
// Powers. Constant exponents that occur in networks take a few multiplications and roots. All
// others are exp(y * log|x|), with more precision for the logarithm and the product than the result
// has.
#include <algorithm>
#include <optional>

#include "compiler/loop/expr_node.h"
#include "compiler/loop/math.h"
#include "compiler/loop/math_kernel.h"

namespace kiln::loop {
namespace {

// A number as the sum of two float64 values. The second is at most half a unit in the last place of
// the first. Algorithms: T. J. Dekker, "A floating-point technique for extending the available
// precision" (1971).
struct Double2 {
  Expr high, low;
};

// Requires |a| >= |b|.
Double2 FastTwoSum(const Expr& a, const Expr& b) {
  const Expr sum = a + b;
  return {sum, b - (sum - a)};
}

Double2 TwoSum(const Expr& a, const Expr& b) {
  const Expr sum = a + b;
  const Expr part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

Double2 TwoProduct(const Expr& a, const Expr& b) {
  const auto split = [](const Expr& v) {
    const Expr scaled = v * Like(v, 0x1p27 + 1);
    const Expr high = scaled - (scaled - v);
    return Double2{high, v - high};
  };
  const Double2 u = split(a), v = split(b);
  const Expr product = a * b;
  const Expr error =
      ((u.high * v.high - product) + u.high * v.low + u.low * v.high) + u.low * v.low;
  return {product, error};
}

Double2 Multiply(const Double2& a, const Double2& b) {
  const Double2 p = TwoProduct(a.high, b.high);
  return FastTwoSum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

// log(m) for m in [sqrt(1/2), sqrt(2)): 2 s + 2/3 s^3 + s^5 R(s^2) with s = (m - 1) / (m + 1). The
// relative error is below 2^-65.
Double2 LogOfMantissa2(const Expr& m) {
  const Expr f = m - 1;
  const Expr sum = m + 1;
  const Expr sum_low = m - (sum - 1);
  const Expr s_high = f / sum;
  const Double2 back = TwoProduct(s_high, sum);
  const Double2 s{s_high, ((f - back.high) - back.low - s_high * sum_low) / sum};
  const Double2 square = Multiply(s, s);
  const Double2 cube = Multiply(square, s);
  const Double2 third =
      Multiply(cube, {Like(m, 0.6666666666666666), Like(m, 3.700743415417188e-17)});
  const Expr& z = square.high;
  const Expr tail =
      z * cube.high *
      Polynomial(z, {},
                 {0.4000000000000225, 0.28571428570101703, 0.22222222519570728, 0.18181784395742479,
                  0.1538675610666702, 0.13256844226969322, 0.1319610057216836});
  const Double2 first = FastTwoSum(s.high * 2, third.high);
  return FastTwoSum(first.high, first.low + (s.low * 2 + (third.low + tail)));
}

// |x|^y for finite positive |x|.
Expr PowFloat64(const Expr& magnitude, const Expr& y) {
  const auto [exponent, mantissa] = Split(magnitude);
  const Double2 log_m = LogOfMantissa2(mantissa);
  // ln2 as the sum of two constants. The product of the first with an exponent is exact.
  const Double2 sum = TwoSum(exponent * Like(y, 0x1.62e42fefa38p-1), log_m.high);
  const Double2 log =
      FastTwoSum(sum.high, sum.low + (exponent * Like(y, 5.497923018708371e-14) + log_m.low));
  const Double2 product = TwoProduct(y, log.high);
  // The low part is arbitrary beyond the range of exp, and is not needed there.
  const Expr& z = product.high;
  const Expr low = MakeSelect(Abs(z) < 750, product.low + y * log.low, Like(y, 0));
  return ExpOfSum(z, low);
}

// |x|^y for finite positive |x|, computed in float64 for float32 operands.
Expr PowFloat32(const Expr& magnitude, const Expr& y) {
  const auto wide = [](const Expr& e) { return MakeCast(DType::Float(64), e); };
  return MakeCast(magnitude.type(), Exp(wide(y) * Log(wide(magnitude))));
}

// The square root, except that -0 gives 0 and -infinity gives infinity, as powers do.
Expr RootForPow(const Expr& x) {
  return MakeSelect(x == Like(x, -kInfinity), Like(x, kInfinity), Sqrt(x + Like(x, 0)));
}

// x^exponent. Returns nothing for exponents that take more than a few operations.
std::optional<Expr> PowOfConstant(const Expr& x, double exponent) {
  const Expr root = RootForPow(x);
  if (exponent == 0) return Like(x, 1);
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == 3) return x * x * x;
  if (exponent == 4) return x * x * (x * x);
  if (exponent == -1) return Like(x, 1) / x;
  if (exponent == -2) return PowOfConstant(Like(x, 1) / x, 2);
  if (exponent == 0.5) return root;
  if (exponent == -0.5) return Like(x, 1) / root;
  if (exponent == 1.5) return Abs(x) * root;
  if (exponent == 0.25) return Sqrt(root);
  if (exponent == 0.75) return root * Sqrt(root);
  return std::nullopt;
}

std::optional<double> AsFloat(const Expr& e) {
  if (const auto* broadcast = e.As<Broadcast>()) return AsFloat(broadcast->a);
  const auto* constant = e.As<FloatImm>();
  return constant == nullptr ? std::nullopt : std::optional<double>(constant->value);
}

}  // namespace

Expr Pow(Expr x, Expr y) {
  int64_t constant;
  if (y.type().index && AsInt(y, &constant)) y = Like(x, static_cast<double>(constant));
  const int lanes = std::max(x.type().lanes, y.type().lanes);
  x = WithLanes(x, lanes);
  y = WithLanes(y, lanes);
  if (const std::optional<double> exponent = AsFloat(y); exponent.has_value()) {
    if (std::optional<Expr> power = PowOfConstant(x, *exponent)) return *power;
  }
  const bool wide = IsFloat64(x);
  const Expr infinity = Like(x, kInfinity), zero = Like(x, 0);
  const Expr magnitude = Abs(x);
  // A larger exponent gives 0 or infinity, or 1 if the magnitude is 1. An infinite exponent would
  // give NaN in the last case.
  const Expr limit = Like(x, 0x1p40, 0x1p65);
  const Expr bounded = Max(Min(y, limit), -limit);
  const Expr power = wide ? PowFloat64(magnitude, bounded) : PowFloat32(magnitude, bounded);
  const Expr extreme = MakeSelect((magnitude == 0) == (y < 0), infinity, zero);
  const Expr is_extreme = magnitude == 0 || magnitude == infinity;
  const Expr not_nan = MakeSelect(is_extreme, extreme, power);
  const Expr unsigned_value = MakeSelect(x != x || y != y, Like(x, kNan), not_nan);

  const Expr is_whole = Trunc(y) == y;
  const Expr half = y * Like(y, 0.5);
  const Expr is_odd = is_whole && Trunc(half) != half;
  const Expr is_negative = BitsOf(x) < 0;
  const Expr value = MakeSelect(is_negative && is_odd, -unsigned_value, unsigned_value);
  const Expr has_no_root = x < 0 && x > -infinity && Not(is_whole);
  const Expr is_one = y == 0 || x == 1;
  return MakeSelect(is_one, Like(x, 1), MakeSelect(has_no_root, Like(x, kNan), value));
}

}  // namespace kiln::loop
