// SPDX-License-Identifier: Apache-2.0
// Sums, products, quotients and powers. Integers wrap around; for integers
// x / 0 is 0 and x mod 0 is 0.
#include "compiler/loop/math.h"
#include "compiler/ops/binary.h"
#include "compiler/ops/exact_forms.h"
#include "compiler/ops/gelu.h"

namespace kiln {
namespace {

bool IsFloat(const Expr& x) { return x.type().dtype.is_float(); }

Expr Add(Expr x, Expr y) { return x + y; }
Expr Subtract(Expr x, Expr y) { return x - y; }
Expr Multiply(Expr x, Expr y) { return x * y; }
Expr Divide(Expr x, Expr y) { return x / y; }

Expr TruncDivide(Expr x, Expr y) { return IsFloat(x) ? loop::Trunc(x / y) : x / y; }

Expr FloorDivide(Expr x, Expr y) { return IsFloat(x) ? loop::Floor(x / y) : loop::FloorDiv(x, y); }

// x - n * y, exact, for the integer n nearest to x / y or a neighbor of it.
Expr Rest(const Expr& x, const Expr& n, const Expr& y) {
  if (x.type().dtype == DType::Float(32)) return loop::MakeFma(-n, y, x);
  // Machines without a fused multiply-add of float64 get the same bits. n and y are split into two
  // parts of at most 27 bits each, and one factor of each product has 26 bits, so products are
  // exact. The differences are exact too: they shrink and are multiples of the last place of y.
  const auto number = [&](double value) { return loop::Const(x.type(), value); };
  const Expr n_high = loop::Trunc(n * number(0x1p-26)) * number(0x1p26), n_low = n - n_high;
  const DType bits = DType::Int(64);
  const Expr mask = loop::IntConst(loop::Type::Of(bits, y.type().lanes), ~int64_t{0x7ffffff});
  const Expr y_high = loop::MakeBitcast(
      DType::Float(64), loop::MakeBinary(loop::BinaryOp::kAnd, loop::MakeBitcast(bits, y), mask));
  const Expr y_low = y - y_high;
  return x - n_high * y_high - n_high * y_low - n_low * y_high - n_low * y_low;
}

// x - trunc(x / y) * y. Rounding may carry the quotient past an integer. The
// sign of the rest shows that.
Expr FloatTruncMod(Expr x, Expr y) {
  const Expr zero = loop::Const(x.type(), 0);
  const Expr rest = Rest(x, loop::Trunc(x / y), y);
  const Expr over = (rest < zero && x > zero) || (rest > zero && x < zero);
  const Expr step = loop::MakeSelect(x > zero, loop::Abs(y), -loop::Abs(y));
  const Expr mod = loop::MakeSelect(over, rest + step, rest);
  return loop::MakeSelect(loop::Abs(x) < loop::Abs(y), x, mod);  // y may be infinite
}

Expr TruncMod(Expr x, Expr y) { return IsFloat(x) ? FloatTruncMod(x, y) : x % y; }

Expr FloorMod(Expr x, Expr y) {
  if (!IsFloat(x)) return loop::FloorMod(x, y);
  const Expr zero = loop::Const(x.type(), 0);
  const Expr rest = FloatTruncMod(x, y);
  const Expr other_sign = (rest < zero && y > zero) || (rest > zero && y < zero);
  return loop::MakeSelect(other_sign, rest + y, rest);
}

// Power by squaring, over all bits of y. It is 0 for a negative y, unless x is 1 or -1.
Expr IntegerPower(Expr x, Expr y) {
  const loop::Type type = x.type();
  const Expr zero = loop::Const(type, 0), one = loop::Const(type, 1);
  const auto is_odd = [&](const Expr& e) {
    return loop::MakeBinary(loop::BinaryOp::kAnd, e, one) != zero;
  };
  Expr power = one, square = x;
  const int bits = type.dtype.is_int() ? type.dtype.bits - 1 : type.dtype.bits;
  for (int bit = 0; bit < bits; ++bit) {
    const Expr shifted = Shr(y, loop::Const(type, static_cast<double>(bit)));
    power = loop::MakeSelect(is_odd(shifted), power * square, power);
    if (bit + 1 < bits) square = square * square;
  }
  if (type.dtype.is_uint()) return power;
  const Expr minus_one = loop::Const(type, -1);
  const Expr reciprocal = loop::MakeSelect(
      x == one, one,
      loop::MakeSelect(x == minus_one, loop::MakeSelect(is_odd(y), minus_one, one), zero));
  return loop::MakeSelect(y < zero, reciprocal, power);
}

Expr Power(Expr x, Expr y) { return IsFloat(x) ? loop::Pow(x, y) : IntegerPower(x, y); }

// Adds the shapes that the examples of every operator of this file cover.
std::vector<OpExample> Examples(std::vector<OpExample> cases) {
  cases.push_back({.inputs = {F32({2, 3}), F32({3})}, .input_min = 0.5});
  cases.push_back({.inputs = {I32({2, 1, 3}), I32({4, 1})}, .input_min = 1});
  cases.push_back({.inputs = {F16({3}), F16({})}, .input_min = 0.5});
  return cases;
}

// Returns `op` with `form` as the canonical form of the operator together with its producers.
OpDef EndOf(CanonicalForm form, OpDef op) {
  op.traits.canonical_with_producers = form;
  return op;
}

constexpr char kTruncModDoc[] =
    "lhs - trunc_divide(lhs, rhs) * rhs, with the sign of lhs. For floats it is exact if lhs / rhs "
    "is below 2^24 (float64: 2^52).";

const OpDef kArithmetic[] = {
    EndOf(AsExactSum, BinaryOp("add", "lhs + rhs.", kNumbers, LowerBinary<Add>,
                               Examples({BinaryCase(kF32, {1, -2}, {0.5, 2}, {1.5, 0}),
                                         BinaryCase(kU8, {250, 1}, {10, 2}, {4, 3})}),
                               Arithmetic::kSum)),
    EndOf(AsExpm1, BinaryOp("subtract", "lhs - rhs.", kNumbers, LowerBinary<Subtract>,
                            Examples({BinaryCase(kF32, {1, -2}, {0.5, 2}, {0.5, -4}),
                                      BinaryCase(kU8, {3, 1}, {1, 2}, {2, 255})}),
                            Arithmetic::kSum)),
    EndOf(AsGelu, BinaryOp("multiply", "lhs * rhs.", kNumbers, LowerBinary<Multiply>,
                           Examples({BinaryCase(kF32, {1, -2}, {0.5, 2}, {0.5, -4}),
                                     BinaryCase(kI32, {3, -4}, {5, 6}, {15, -24})}),
                           Arithmetic::kProduct)),
    BinaryOp("divide", "lhs / rhs. The quotient of integers is truncated toward zero.", kNumbers,
             LowerBinary<Divide>,
             Examples({BinaryCase(kF32, {1, -2}, {0.5, 4}, {2, -0.5}),
                       BinaryCase(kI32, {7, -7, 5}, {2, 2, 0}, {3, -3, 0})}),
             Arithmetic::kQuotient),
    BinaryOp("floor_divide", "lhs / rhs, rounded toward minus infinity.", kNumbers,
             LowerBinary<FloorDivide>,
             Examples({BinaryCase(kF32, {7, -7}, {2, 2}, {3, -4}),
                       BinaryCase(kI32, {7, -7, 7}, {2, 2, -2}, {3, -4, -4})})),
    BinaryOp("floor_mod", "lhs - floor_divide(lhs, rhs) * rhs, with the sign of rhs.", kNumbers,
             LowerBinary<FloorMod>,
             Examples({BinaryCase(kF32, {7.5, -7.5}, {2, 2}, {1.5, 0.5}),
                       BinaryCase(kI32, {7, -7, 7}, {3, 3, -3}, {1, 2, -2})})),
    BinaryOp("mod", kTruncModDoc, kNumbers, LowerBinary<TruncMod>,
             Examples({BinaryCase(kF32, {7.5, -7.5}, {2, 2}, {1.5, -1.5}),
                       BinaryCase(kI32, {7, -7, 7}, {3, 3, -3}, {1, -1, 1})})),
    BinaryOp("trunc_divide", "lhs / rhs, rounded toward zero.", kNumbers, LowerBinary<TruncDivide>,
             Examples({BinaryCase(kF32, {7, -7}, {2, 2}, {3, -3}),
                       BinaryCase(kI32, {7, -7, 7}, {2, 2, -2}, {3, -3, -3})})),
    BinaryOp("trunc_mod", kTruncModDoc, kNumbers, LowerBinary<TruncMod>,
             Examples({BinaryCase(kF32, {7.5, -7.5}, {2, 2}, {1.5, -1.5}),
                       BinaryCase(kI32, {7, -7, 7}, {3, 3, -3}, {1, -1, 1})})),
    BinaryOp(
        "power",
        "lhs to the power of rhs. For integers with a negative rhs it is 0, unless lhs is 1 or -1.",
        kNumbers, LowerBinary<Power>,
        Examples({BinaryCase(kF32, {2, 9, 2}, {3, 0.5, -1}, {8, 3, 0.5}, 1e-6),
                  BinaryCase(kI32, {2, -3, -1, 5}, {10, 3, -3, -1}, {1024, -27, -1, 0})})),
    BinaryOp("maximum", "The larger of lhs and rhs, or NaN if one of them is NaN.", kNumbers,
             LowerBinary<loop::Maximum>,
             Examples({BinaryCase(kF32, {1, -2}, {0.5, 2}, {1, 2}),
                       BinaryCase(kU8, {200, 1}, {100, 2}, {200, 2})})),
    BinaryOp("minimum", "The smaller of lhs and rhs, or NaN if one of them is NaN.", kNumbers,
             LowerBinary<loop::Minimum>,
             Examples({BinaryCase(kF32, {1, -2}, {0.5, 2}, {0.5, -2}),
                       BinaryCase(kU8, {200, 1}, {100, 2}, {100, 1})})),
};
KILN_REGISTER_OPS(kArithmetic);

}  // namespace
}  // namespace kiln
