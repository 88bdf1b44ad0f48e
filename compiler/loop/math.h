// SPDX-License-Identifier: Apache-2.0
// Elementary functions as arithmetic of the loop IR: polynomials that give the same bits on every
// engine and machine, vectorize, and need no libm. Operands are float32 or float64. Errors are at
// most 4 ULP over the whole range unless stated otherwise. Special values (infinities, NaN, signed
// zero, overflow, underflow) are as in C's math.h. docs/loop_ir.md has the measured errors.
//
// Sin, Cos and Tan have this accuracy for every finite argument, because they reduce it in 64-bit
// integer arithmetic. Pow of float32 computes in float64, except for the constant exponents that
// occur in networks: -2, -1, -0.5, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4. All other functions of
// float32 use only float32 and int32 arithmetic and are short, because Exp, Tanh, Sigmoid, Erf and
// Log occur in the inner loops of networks.
#ifndef KILN_COMPILER_LOOP_MATH_H_
#define KILN_COMPILER_LOOP_MATH_H_

#include "compiler/loop/expr.h"

namespace kiln::loop {

Expr Exp(Expr x);
// exp(x) for x <= 0, at lower cost. The result is 0 if it would be below 2^-126.5 (float64:
// 2^-1022.5).
Expr ExpOfNonPositive(Expr x);
Expr Expm1(Expr x);
Expr Log(Expr x);
Expr Log1p(Expr x);
Expr Log2(Expr x);
Expr Log10(Expr x);
Expr Softplus(Expr x);  // log(1 + exp(x))
Expr Sin(Expr x);
Expr Cos(Expr x);
Expr Tan(Expr x);
Expr Asin(Expr x);
Expr Acos(Expr x);
Expr Atan(Expr x);
Expr Sinh(Expr x);
Expr Cosh(Expr x);
Expr Tanh(Expr x);
Expr Asinh(Expr x);
Expr Acosh(Expr x);
Expr Atanh(Expr x);
Expr Erf(Expr x);
// Gaussian error linear unit: x Phi(x), where Phi(x) = (1 + erf(x / sqrt(2))) / 2 is the normal
// distribution. The error is at most 1.25e-7 |x| (float64: 2^-52 |x|).
Expr Gelu(Expr x);
Expr Sigmoid(Expr x);  // 1 / (1 + exp(-x))
Expr Pow(Expr x, Expr y);
Expr Sqrt(Expr x);
Expr Rsqrt(Expr x);  // 1 / sqrt(x)
Expr Floor(Expr x);
Expr Ceil(Expr x);
Expr Trunc(Expr x);
Expr RoundEven(Expr x);  // halves to even
Expr RoundAway(Expr x);  // halves away from zero
Expr Abs(Expr x);
Expr IsNan(Expr x);
Expr IsInf(Expr x);

// Replaces every float32 product that is an operand of an addition or subtraction by a fused
// multiply-add. Exp, ExpOfNonPositive, Expm1, Softplus, Tanh, Sigmoid, Erf and Gelu keep their
// error bounds. Functions that compute the error of a product do not.
Expr FuseMultiplyAdds(const Expr& e);

// Integers only: a << b and a >> b. The shift right of a signed integer repeats its sign.
Expr Shl(Expr a, Expr b);
Expr Shr(Expr a, Expr b);
// Integers only: quotient and remainder rounded towards minus infinity.
Expr FloorDiv(Expr a, Expr b);
Expr FloorMod(Expr a, Expr b);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_MATH_H_
