// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic of 32 bits, as expressions. A number with m integer bits has 31 - m
// fraction bits: raw / 2^(31 - m). Every function rounds and saturates bit for bit as the gemmlowp
// library, in whose fixed-point arithmetic TFLite's integer kernels are written.
#ifndef KILN_COMPILER_OPS_FIXED_POINT_H_
#define KILN_COMPILER_OPS_FIXED_POINT_H_

#include <cstdint>

#include "compiler/loop/expr.h"

namespace kiln {

// Returns x converted to int32.
inline loop::Expr AsI32(const loop::Expr& x) { return loop::MakeCast(kI32, x); }

// factor == multiplier / 2^31 * 2^shift, with multiplier in [2^30, 2^31). The multiplier is 0 if
// the factor is 0 or too small for a shift of -31.
struct FixedPointFactor {
  int32_t multiplier = 0;
  int shift = 0;
};
// Returns the nearest one. `factor` must be finite and not negative.
FixedPointFactor ToFixedPoint(double factor);

// a * b / 2^31, rounded to nearest, halves up. All are int32. a and b must not
// both be the lowest int32.
loop::Expr MultiplyHigh(const loop::Expr& a, const loop::Expr& b);
// x / 2^exponent, rounded to nearest, halves away from zero; 0 <= exponent <= 31.
loop::Expr DivideByPowerOfTwo(const loop::Expr& x, int exponent);
// The same for an int32 exponent that is computed.
loop::Expr DivideByPowerOfTwo(const loop::Expr& x, const loop::Expr& exponent);
// x * 2^exponent, saturating, for exponent > 0.
loop::Expr SaturatingShiftLeft(const loop::Expr& x, int exponent);
// x * 2^exponent, clamped to -2^30 … 2^30, for 0 <= exponent <= 30. x is clamped before the shift,
// by one minimum and one maximum, or by neither if the range of x is known to be small.
loop::Expr ShiftLeftWithinBounds(const loop::Expr& x, const loop::Expr& exponent);
// Number of zeros above the highest one bit of an int32 greater than 0.
loop::Expr CountLeadingZeros(const loop::Expr& x);

// exp(x) with no integer bits, for x <= 0 with `integer_bits` of at most 5.
loop::Expr FixedPointExp(const loop::Expr& x, int integer_bits);
// 1 / (1 + x) with no integer bits, for x in [0, 1] with no integer bits.
loop::Expr FixedPointOneOverOnePlus(const loop::Expr& x);
// 1 / (1 + exp(-x)) with no integer bits.
loop::Expr FixedPointLogistic(const loop::Expr& x, int integer_bits);
// tanh(x) with no integer bits.
loop::Expr FixedPointTanh(const loop::Expr& x, int integer_bits);
// The natural logarithm with 5 integer bits, for x >= 1 with 12.
loop::Expr FixedPointLog(const loop::Expr& x);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_FIXED_POINT_H_
