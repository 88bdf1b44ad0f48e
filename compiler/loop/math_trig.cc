// SPDX-License-Identifier: Apache-2.0
// Sine, cosine, tangent.
#include "compiler/loop/math.h"
#include "compiler/loop/math_kernel.h"

namespace kiln::loop {
namespace {

// sin(r), cos(r), tan(r) for |r| <= pi/4.
Expr SinOfReduced(const Expr& r) {
  const Expr z = r * r;
  return r +
         r * z *
             Polynomial(z, {-0.166666552, 0.00833218917, -0.00019518286},
                        {-0.1666666666666663, 0.008333333333322108, -0.00019841269829580838,
                         2.7557313618210734e-06, -2.505074724380727e-08, 1.5896198926483226e-10});
}

Expr CosOfReduced(const Expr& r) {
  const Expr z = r * r;
  return 1 - (Like(r, 0.5) * z - z * z *
                                     Polynomial(z, {0.0416666456, -0.00138873095, 2.44323273e-05},
                                                {0.041666666666666595, -0.0013888888888873043,
                                                 2.4801587288842187e-05, -2.7557314176451154e-07,
                                                 2.08757004430138e-09, -1.1358515273954218e-11}));
}

Expr TanOfReduced(const Expr& r) {
  const Expr z = r * r;
  return r + r * z *
                 Polynomial(z,
                            {0.333331555, 0.133388355, 0.0534082018, 0.0244413894, 0.00310148997,
                             0.00939651858},
                            {0.33333333333332776, 0.13333333333414482, 0.05396825392673333,
                             0.02186948960748062, 0.008863219184996853, 0.003592288898041192,
                             0.001454759024549214, 0.0005950604609924315, 0.0002223920257401123,
                             0.00013650100234434024, -2.6352219895710826e-05, 8.942159258755739e-05,
                             -4.4860161588000116e-05, 2.0859356083825042e-05});
}

Expr HasBit(const Expr& integer, int bit) {
  return MakeBinary(BinaryOp::kAnd, integer, 1 << bit) != 0;
}

// Returns y, a function of |x|, with the sign of x applied if `odd`. Returns NaN if x is infinite
// or NaN.
Expr Finish(const Expr& x, const Expr& y, const Expr& negative, bool odd) {
  const Expr signed_y = MakeSelect(negative, -y, y);
  const Expr value = odd ? MakeSelect(BitsOf(x) < 0, -signed_y, signed_y) : signed_y;
  return MakeSelect(Abs(x) < Like(x, kInfinity), value, Like(x, kNan));
}

}  // namespace

Expr Sin(Expr x) {
  const auto [quadrant, r] = ReduceByHalfPi(x);
  const Expr y = MakeSelect(HasBit(quadrant, 0), CosOfReduced(r), SinOfReduced(r));
  return Finish(x, y, HasBit(quadrant, 1), true);
}

Expr Cos(Expr x) {
  const auto [quadrant, r] = ReduceByHalfPi(x);
  const Expr y = MakeSelect(HasBit(quadrant, 0), SinOfReduced(r), CosOfReduced(r));
  return Finish(x, y, HasBit(quadrant + 1, 1), false);
}

Expr Tan(Expr x) {
  const auto [quadrant, r] = ReduceByHalfPi(x);
  const Expr odd = HasBit(quadrant, 0);
  const Expr tan = TanOfReduced(r);
  const Expr y = MakeSelect(odd, Like(x, 1), tan) / MakeSelect(odd, tan, Like(x, 1));
  return Finish(x, y, odd, true);
}

}  // namespace kiln::loop
