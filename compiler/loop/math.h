// SPDX-License-Identifier: Apache-2.0
// Elementary functions as arithmetic of the loop IR: polynomials that give the same bits on every
// engine and machine, vectorize, and need no libm. For float32 and float64 operands; at most 4 ULP
// of the true value over the whole range unless said otherwise. Special values (infinities, NaN,
// signed zero, overflow, underflow) as C's math.h. docs/loop_ir.md has the errors that were
// measured.
//
// Sin, Cos and Tan are that accurate for every finite argument, however large; they reduce it in
// 64-bit integer arithmetic. Pow of float32 computes in float64, but for the constant exponents
// that networks have: -2, -1, -0.5, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4. Everything else of float32
// is float32 and int32 arithmetic, and short: Exp, Tanh, Sigmoid, Erf and Log stand in the inner
// loops of networks.
#ifndef KILN_COMPILER_LOOP_MATH_H_
#define KILN_COMPILER_LOOP_MATH_H_

#include "compiler/loop/expr.h"

namespace kiln::loop {

Expr Exp(Expr x);
// exp(x) for x <= 0, at less cost; 0 where that is less than 2^-126.5 (float64: 2^-1022.5).
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
// x Phi(x), where Phi(x) = (1 + erf(x / sqrt(2))) / 2 is the normal distribution: a Gaussian error
// linear unit. The error is at most 1.25e-7 |x| (float64: 2^-52 |x|).
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

// `e` with every product of float32 that something is added to, or that is taken from something, as a
// fused multiply-add. Exp, ExpOfNonPositive, Expm1, Softplus, Tanh, Sigmoid, Erf and Gelu stay within
// their errors;
// functions that compute the error of a product do not.
Expr FuseMultiplyAdds(const Expr& e);

// Integers only: a << b, and a >> b, which repeats the sign of signed ones.
Expr Shl(Expr a, Expr b);
Expr Shr(Expr a, Expr b);
// Integers only: quotient and remainder rounded towards minus infinity.
Expr FloorDiv(Expr a, Expr b);
Expr FloorMod(Expr a, Expr b);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_MATH_H_
