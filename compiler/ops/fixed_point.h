// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic of 32 bits, as expressions. A number with m integer bits has 31 - m bits
// behind the point: raw / 2^(31 - m). Every function rounds and saturates as the gemmlowp library
// does, whose fixed-point arithmetic TFLite's integer kernels are written in, to the bit.
#ifndef KILN_COMPILER_OPS_FIXED_POINT_H_
#define KILN_COMPILER_OPS_FIXED_POINT_H_

#include <cstdint>

#include "compiler/loop/expr.h"

namespace kiln {

// factor == multiplier / 2^31 * 2^shift, with multiplier in [2^30, 2^31), or 0 for a factor that is
// too small for a shift of -31.
struct FixedPointFactor {
  int32_t multiplier = 0;
  int shift = 0;
};
// The nearest one. `factor` is not negative and finite.
FixedPointFactor ToFixedPoint(double factor);

// a * b / 2^31, rounded to nearest, halves up. Not both may be the lowest int32. All are int32.
loop::Expr MultiplyHigh(const loop::Expr& a, const loop::Expr& b);
// x / 2^exponent, rounded to nearest, halves away from zero; 0 <= exponent <= 31.
loop::Expr DivideByPowerOfTwo(const loop::Expr& x, int exponent);
// The same by an exponent that is computed; int32.
loop::Expr DivideByPowerOfTwo(const loop::Expr& x, const loop::Expr& exponent);
// x * 2^exponent, saturating, for exponent > 0.
loop::Expr SaturatingShiftLeft(const loop::Expr& x, int exponent);
// x * 2^exponent, at most 2^30 and at least -2^30: x is first brought to the bounds of that. It is
// one minimum and one maximum, or neither if the range of x is known to be small.
// 0 <= exponent <= 30.
loop::Expr ShiftLeftWithinBounds(const loop::Expr& x, const loop::Expr& exponent);
// Zeros in front of the highest one of an int32 above 0.
loop::Expr CountLeadingZeros(const loop::Expr& x);

// exp(x) with no integer bits, of an x <= 0 with `integer_bits` of at most 5.
loop::Expr FixedPointExp(const loop::Expr& x, int integer_bits);
// 1 / (1 + x), of x in [0, 1] with no integer bits; so has the result.
loop::Expr FixedPointOneOverOnePlus(const loop::Expr& x);
// 1 / (1 + exp(-x)) with no integer bits.
loop::Expr FixedPointLogistic(const loop::Expr& x, int integer_bits);
// tanh(x) with no integer bits.
loop::Expr FixedPointTanh(const loop::Expr& x, int integer_bits);
// The natural logarithm with 5 integer bits, of an x >= 1 with 12.
loop::Expr FixedPointLog(const loop::Expr& x);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_FIXED_POINT_H_
