// SPDX-License-Identifier: Apache-2.0
// What the functions of math.h are built of; for the sources math_*.cc.
//
// Polynomial coefficients are minimax fits of the relative error (Remez exchange in 200-bit
// arithmetic), one set for float32 and one for float64, each rounded to its type.
#ifndef KILN_COMPILER_LOOP_MATH_KERNEL_H_
#define KILN_COMPILER_LOOP_MATH_KERNEL_H_

#include <initializer_list>
#include <limits>

#include "compiler/loop/expr.h"

namespace kiln::loop {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kHalfPi = 0x1.921fb54442d18p+0;

// Whether `x` is float64 rather than float32; aborts on any other type.
bool IsFloat64(const Expr& x);
// A float constant of the type of `x`; the second form takes one per width.
Expr Like(const Expr& x, double value);
Expr Like(const Expr& x, double float32, double float64);
// c0 + u * (c1 + u * (…)), with the coefficients of the width of `u`.
Expr Polynomial(const Expr& u, std::initializer_list<double> float32,
                std::initializer_list<double> float64);

// The bits as a signed integer of the same width, and back.
Expr BitsOf(const Expr& x);
Expr FromBits(const Expr& bits);
// The magnitude of one with the sign of another.
Expr CopySign(const Expr& magnitude, const Expr& sign);

// The exponent's bias of the type of `x`.
int ExponentBias(const Expr& x);
// The integer n nearest to a float, |x| < 2^20, halves to even; and bits whose low ones are n + offset,
// where a shift by the bits of the mantissa makes them an exponent.
struct Rounded {
  Expr n;  // as a float
  Expr bits;
};
Rounded RoundToBits(const Expr& x, int offset);
// 2^n of the type of `like`, from the bits where the exponent's bias was the offset.
Expr PowerOfBiased(const Expr& like, const Expr& bits);

// exp(x) * 2^scale; scale is 0 or -1 and is applied before the result could overflow.
Expr ScaledExp(const Expr& x, int scale);
// exp(x + low) for a `low` of the size of a rounding error of x.
Expr ExpOfSum(const Expr& x, const Expr& low);

// x = 2^exponent * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
struct SplitFloat {
  Expr exponent;  // as a float
  Expr mantissa;  // 1 + f
};
SplitFloat Split(const Expr& x);
// log(mantissa).
Expr LogOfMantissa(const Expr& mantissa);
// `y` with the values of log where x is not positive and finite.
Expr WithLogSpecials(const Expr& x, const Expr& y);

// |x| = quadrant * pi/2 + r with r in [-pi/4, pi/4], for any finite x; the quadrant is modulo 4, as
// uint64.
struct PiReduction {
  Expr quadrant;
  Expr r;
};
PiReduction ReduceByHalfPi(const Expr& x);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_MATH_KERNEL_H_
