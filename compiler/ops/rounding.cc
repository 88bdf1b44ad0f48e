// SPDX-License-Identifier: Apache-2.0
// Rounding, sign and magnitude. Integers are already rounded.
#include "compiler/loop/math.h"
#include "compiler/ops/unary.h"

namespace kiln {
namespace {

// Returns `kRound` of a float; an integer is unchanged.
template <auto kRound>
Expr Rounded(Expr x) {
  return x.type().dtype.is_float() ? kRound(x) : x;
}

Expr Magnitude(Expr x) { return x.type().dtype.is_uint() ? x : loop::Abs(x); }

Expr Negated(Expr x) { return -x; }

Expr Sign(Expr x) {
  const Expr zero = loop::Const(x.type(), 0), one = loop::Const(x.type(), 1);
  const Expr positive = loop::MakeSelect(x > zero, one, zero);
  if (x.type().dtype.is_uint()) return positive;
  return loop::MakeSelect(x < zero, loop::Const(x.type(), -1), positive);
}

const OpDef kRounding[] = {
    NumericUnary("floor", "The largest whole number not above x.", LowerUnary<Rounded<loop::Floor>>,
                 {-1.5, 0.25, 2}, {-2, 0, 2}, {-3, 5}, {-3, 5}),
    NumericUnary("ceil", "The smallest whole number not below x.", LowerUnary<Rounded<loop::Ceil>>,
                 {-1.5, 0.25, 2}, {-1, 1, 2}, {-3, 5}, {-3, 5}),
    NumericUnary("trunc", "x rounded toward zero.", LowerUnary<Rounded<loop::Trunc>>,
                 {-1.5, 0.25, 2}, {-1, 0, 2}, {-3, 5}, {-3, 5}),
    NumericUnary("round", "x rounded to the nearest whole number, with halves away from zero.",
                 LowerUnary<Rounded<loop::RoundAway>>, {-1.5, 0.25, 2.5, 0.5}, {-2, 0, 3, 1},
                 {-3, 5}, {-3, 5}),
    NumericUnary("abs", "|x|. The smallest integer of a signed type stays.", LowerUnary<Magnitude>,
                 {-1.5, 0.25}, {1.5, 0.25}, {-3, 5}, {3, 5}),
    NumericUnary("negative", "-x. Integers wrap around.", LowerUnary<Negated>, {-1.5, 0.25},
                 {1.5, -0.25}, {-3, 5}, {3, -5}),
    NumericUnary("sign", "-1, 0 or 1 if x is below, at or above 0. It is 0 for NaN.",
                 LowerUnary<Sign>, {-1.5, 0, 0.25}, {-1, 0, 1}, {-3, 0, 5}, {-1, 0, 1}),
};
KILN_REGISTER_OPS(kRounding);

}  // namespace
}  // namespace kiln
