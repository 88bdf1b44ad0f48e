// SPDX-License-Identifier: Apache-2.0
// Building blocks of the functions of math.h, for the sources math_*.cc.
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

// True if `x` is float64, false if it is float32. Aborts on any other type.
bool IsFloat64(const Expr& x);
// A float constant of the type of `x`. The second form takes one value per width.
Expr Like(const Expr& x, double value);
Expr Like(const Expr& x, double float32, double float64);
// c0 + u * (c1 + u * (…)), with the coefficients of the width of `u`.
Expr Polynomial(const Expr& u, std::initializer_list<double> float32,
                std::initializer_list<double> float64);

// BitsOf: the bits as a signed integer of the same width. FromBits: the inverse.
Expr BitsOf(const Expr& x);
Expr FromBits(const Expr& bits);
// The magnitude of `magnitude` with the sign of `sign`.
Expr CopySign(const Expr& magnitude, const Expr& sign);

// Bias of the exponent in the type of `x`.
int ExponentBias(const Expr& x);
// The integer n nearest to x, halves to even, for |x| < 2^20. The low bits of `bits` are
// n + offset. A shift by the number of bits of the mantissa makes them an exponent.
struct Rounded {
  Expr n;  // as a float
  Expr bits;
};
Rounded RoundToBits(const Expr& x, int offset);
// 2^n in the type of `like`, from the `bits` of RoundToBits with the exponent's bias as offset.
Expr PowerOfBiased(const Expr& like, const Expr& bits);

// exp(x) * 2^scale. scale is 0 or -1 and is applied before the result could overflow.
Expr ScaledExp(const Expr& x, int scale);
// exp(x + low), where `low` is as small as a rounding error of x.
Expr ExpOfSum(const Expr& x, const Expr& low);

// x = 2^exponent * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
struct SplitFloat {
  Expr exponent;  // as a float
  Expr mantissa;  // 1 + f
};
SplitFloat Split(const Expr& x);
// log(mantissa).
Expr LogOfMantissa(const Expr& mantissa);
// Returns `y`, or the special values of log if x is not positive and finite.
Expr WithLogSpecials(const Expr& x, const Expr& y);

// |x| = quadrant * pi/2 + r with r in [-pi/4, pi/4], for any finite x. The quadrant is modulo 4, as
// uint64.
struct PiReduction {
  Expr quadrant;
  Expr r;
};
PiReduction ReduceByHalfPi(const Expr& x);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_MATH_KERNEL_H_
