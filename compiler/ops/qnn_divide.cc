// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>

#include "compiler/loop/math.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/quantized.h"
#include "compiler/ops/quantized_binary.h"

namespace kiln {
namespace {

constexpr double kMaxQuotient = 1 << 22;
constexpr int kMaxCentred = 255;  // bound on an 8-bit number minus its zero point

// lhs_scale / (rhs_scale * output_scale), computed in float32 as in TFLite.
float Quotient(double lhs, double rhs, double out) {
  return static_cast<float>(lhs) / (static_cast<float>(rhs) * static_cast<float>(out));
}

InferResult InferQnnDivide(const InferContext& c) {
  const DType dtype = c.inputs[kLhs].dtype;
  KILN_CONSTRAINT(1, dtype.bits == 8, dtype.ToString(), "integers of 8 bits");
  KILN_ASSIGN_OR_RETURN(TensorType type, CheckQuantizedBinary(c));
  const auto scale = [&](size_t k) { return c.constants[k]->AsDouble(0); };
  const float quotient = Quotient(scale(kLhsScale), scale(kRhsScale), scale(kResultScale));
  KILN_CONSTRAINT(6, static_cast<double>(quotient) <= kMaxQuotient,
                  absl::StrCat("the quotient ", quotient), absl::StrCat("at most ", kMaxQuotient));
  return OutputTypes({std::move(type)});
}

// Each number as a mantissa of 31 bits, which is the number shifted to the left by `shifts`.
struct Mantissas {
  Tensor values, shifts;  // indexed by the number + kMaxCentred
};
Mantissas MakeMantissas() {
  std::vector<int32_t> values, shifts;
  for (int n = -kMaxCentred; n <= kMaxCentred; ++n) {
    const auto magnitude = static_cast<uint32_t>(n < 0 ? ~n : n);
    const int shift = n == 0 ? 31 : std::countl_zero(magnitude) - 1;
    values.push_back(static_cast<int32_t>(int64_t{n} * (int64_t{1} << shift)));
    shifts.push_back(shift);
  }
  const Shape shape = {2 * kMaxCentred + 1};
  return {Tensor::From<int32_t>(shape, kI32, values), Tensor::From<int32_t>(shape, kI32, shifts)};
}

// Reciprocals of n: 1 / n = value / 2^31 / 2^shift.
struct Reciprocals {
  Tensor values, shifts;  // indexed by n; entry 0 is that of 1
};
Reciprocals MakeReciprocals() {
  std::vector<int32_t> values, shifts;
  for (int n = 0; n <= kMaxCentred; ++n) {
    const uint32_t divisor = n == 0 ? 1 : static_cast<uint32_t>(n);
    const int zeros = std::countl_zero(divisor);
    const auto rest = static_cast<int64_t>(int64_t{divisor} << zeros) - (int64_t{1} << 31);
    int64_t value = 0;
    loop::AsInt(FixedPointOneOverOnePlus(I32Const(rest)), &value);
    values.push_back(static_cast<int32_t>(value));
    shifts.push_back(31 - zeros);
  }
  const Shape shape = {kMaxCentred + 1};
  return {Tensor::From<int32_t>(shape, kI32, values), Tensor::From<int32_t>(shape, kI32, shifts)};
}

absl::Status LowerQnnDivide(StageBuilder& b) {
  const Access lhs = Centred(b, Broadcast(b.Input(kLhs), b.input_shape(kLhs)), kLhsZero, kI32),
               rhs = Centred(b, Broadcast(b.Input(kRhs), b.input_shape(kRhs)), kRhsZero, kI32);
  const auto scale = [&](int k) { return OperandValues(b, k)[0]; };
  const FixedPointFactor factor = ToFixedPoint(
      static_cast<double>(Quotient(scale(kLhsScale), scale(kRhsScale), scale(kResultScale))));
  const Mantissas mantissas = MakeMantissas();
  const Reciprocals reciprocals = MakeReciprocals();
  const Access mantissa = b.Table("mantissa", mantissas.values),
               headroom = b.Table("headroom", mantissas.shifts),
               reciprocal = b.Table("reciprocal", reciprocals.values),
               places = b.Table("places", reciprocals.shifts);
  const auto zero = OperandAt(b, kResultZero);
  b.Output(0, [&](const Indices& i) {
    const Expr divisor = rhs(i), number = lhs(i);
    const Expr dividend = loop::MakeSelect(divisor < I32Const(0), -number, number);
    const Expr at = ClampIndex(dividend + I32Const(kMaxCentred), 2 * kMaxCentred + 1),
               by = ClampIndex(loop::Abs(divisor), kMaxCentred + 1);
    const Expr quotient = MultiplyHigh(mantissa({at}), reciprocal({by}));
    const Expr shift = places({by}) + headroom({at}) - I32Const(factor.shift);
    const Expr scaled = MultiplyHigh(quotient, I32Const(factor.multiplier));
    // A number below 2^31, times 2^-32, rounds to 0.
    const Expr y = loop::MakeSelect(shift > I32Const(31), I32Const(0),
                                    DivideByPowerOfTwo(scaled, Min(shift, I32Const(31))));
    return Saturate(y, zero(Expr(0)), b.output_dtype(0));
  });
  return absl::OkStatus();
}

std::vector<Tensor> DivideOperands(Tensor lhs, Tensor rhs) {
  return {std::move(lhs), std::move(rhs), Scale(0.1),  ZeroPoint(2),
          Scale(0.05),    ZeroPoint(-5),  Scale(0.04), ZeroPoint(-3)};
}

OpExample RandomDivide(DType dtype, Shape lhs, Shape rhs) {
  return {.inputs = WithScales({{std::move(lhs), dtype}, {std::move(rhs), dtype}}),
          .values = DivideOperands(Tensor(), Tensor()),
          .input_min = dtype.is_int() ? -32.0 : 0.0,
          .input_max = 31.0};
}

const OpDef kQnnDivide = {
    {.name = "qnn.divide",
     .doc = "The quotient of quantized numbers, as a quantized number. It is computed as in "
            "TFLite's reference kernel: as the product with the reciprocal of rhs, in fixed point "
            "of 32 bits. A divisor that stands for 0 counts as the smallest number above 0.",
     .inputs = {{"lhs", "integers of 8 bits"},
                {"rhs", "integers of 8 bits"},
                {"lhs_scale", "a constant"},
                {"lhs_zero_point", "int32"},
                {"rhs_scale", "a constant"},
                {"rhs_zero_point", "int32"},
                {"output_scale", "a constant"},
                {"output_zero_point", "int32"}}},
    {"lhs and rhs hold integers of 8 bits", "their dtypes are equal", "their shapes broadcast",
     "scales are float32 or float64 constants of one element above 0",
     "zero points are int32 of one element",
     "lhs_scale / (rhs_scale * output_scale) is at most 2^22"},
    {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
    InferQnnDivide,
    LowerQnnDivide,
    {// 9.8 / 1.75 is 5.6, or 140 steps of the output, which saturates. -5.2 / -2.75 is 47.3 steps
     // above the zero point -3.
     Case(DivideOperands(Values(I8({6}), {100, -50, 7, 1, -128, 0}),
                         Values(I8({6}), {30, -60, 3, 127, -1, 9})),
          {}, {Values(I8({6}), {127, 44, 28, -3, -128, -10})}),
     RandomDivide(DType::Int(8), {3, 7}, {7}), RandomDivide(DType::UInt(8), {3, 7}, {3, 1})},
};
KILN_REGISTER_OP(kQnnDivide);

}  // namespace
}  // namespace kiln
