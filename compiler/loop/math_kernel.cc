// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math_kernel.h"

#include "compiler/loop/check.h"

namespace kiln::loop {

bool IsFloat64(const Expr& x) {
  const DType dtype = x.type().dtype;
  KILN_CHECK(dtype == DType::Float(32) || dtype == DType::Float(64),
             "an elementary function of " + x.type().ToString());
  return dtype.bits == 64;
}

Expr Like(const Expr& x, double value) { return Const(x.type(), value); }

Expr Like(const Expr& x, double float32, double float64) {
  return Like(x, IsFloat64(x) ? float64 : float32);
}

Expr Polynomial(const Expr& u, std::initializer_list<double> float32,
                std::initializer_list<double> float64) {
  const std::initializer_list<double>& coefficients = IsFloat64(u) ? float64 : float32;
  const double* c = coefficients.end();
  Expr sum = Like(u, *--c);
  while (c != coefficients.begin()) sum = sum * u + Like(u, *--c);
  return sum;
}

Expr BitsOf(const Expr& x) { return MakeBitcast(DType::Int(x.type().dtype.bits), x); }
Expr FromBits(const Expr& bits) { return MakeBitcast(DType::Float(bits.type().dtype.bits), bits); }

Expr CopySign(const Expr& magnitude, const Expr& sign) {
  const Expr bits = BitsOf(sign);
  const Expr sign_bit = IntConst(bits.type(), bits.type().dtype.MinInt());
  return FromBits(
      MakeBinary(BinaryOp::kOr,
                 MakeBinary(BinaryOp::kAnd, BitsOf(magnitude), MakeUnary(UnaryOp::kNot, sign_bit)),
                 MakeBinary(BinaryOp::kAnd, bits, sign_bit)));
}

}  // namespace kiln::loop
