// SPDX-License-Identifier: Apache-2.0
// qnn.add, qnn.subtract and qnn.mul.
#include <algorithm>
#include <cmath>

#include "compiler/loop/math.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/quantized.h"
#include "compiler/ops/quantized_binary.h"
#include "compiler/ops/sum_of_bytes.h"

namespace kiln {
namespace {

enum class Operation { kAdd, kSubtract, kMultiply };

template <Operation kOperation>
InferResult InferQnnArithmetic(const InferContext& c) {
  const DType dtype = c.inputs[kLhs].dtype;
  KILN_CONSTRAINT(1, dtype.bits <= 16, dtype.ToString(), "integers of up to 16 bits");
  KILN_ASSIGN_OR_RETURN(TensorType type, CheckQuantizedBinary(c));
  KILN_ASSIGN_OR_RETURN(const Rounding rounding, RoundingOf(c.attrs, 6));
  const auto scale = [&](size_t k) { return c.constants[k]->AsDouble(0); };
  if (rounding == Rounding::kEven) {
    // Computed in float32, without a fixed-point factor.
  } else if (kOperation == Operation::kMultiply) {
    KILN_RETURN_IF_ERROR(CheckFactor(scale(kLhsScale) * scale(kRhsScale) / scale(kResultScale), 7));
  } else {
    for (size_t k : {kLhsScale, kRhsScale}) {
      KILN_RETURN_IF_ERROR(CheckFactor(scale(k) / scale(kResultScale), 7));
    }
  }
  return OutputTypes({std::move(type)});
}

// Operands of the functions below.
struct Operands {
  Access lhs, rhs;  // minus their zero points, int32
  double lhs_scale, rhs_scale, out_scale;
};

int SignOf(Operation operation) { return operation == Operation::kSubtract ? -1 : 1; }

Expr Combine(Operation operation, const Expr& a, const Expr& b) {
  switch (operation) {
    case Operation::kAdd:
      return a + b;
    case Operation::kSubtract:
      return a - b;
    case Operation::kMultiply:
      return a * b;
  }
  return a;
}

// The product, multiplied by one factor.
Access FixedProduct(StageBuilder& b, const Operands& o, Rounding rounding) {
  const DType sums = rounding == Rounding::kTflite ? kI32 : kI64;
  const Rescale rescale(b, "product", {o.lhs_scale * o.rhs_scale / o.out_scale}, rounding, sums,
                        kI64);
  return [=](const Indices& i) {
    return rescale(loop::MakeCast(sums, o.lhs(i)) * loop::MakeCast(sums, o.rhs(i)), Expr(0));
  };
}

// TFLite's sum: both operands are shifted to the left and rescaled to twice the larger scale. Their
// sum is rescaled to the scale of the output.
Access TfliteSum(StageBuilder& b, const Operands& o, Operation operation, DType dtype) {
  const int shift = dtype.bits == 8 ? 20 : 15;
  const double common = 2 * std::max(o.lhs_scale, o.rhs_scale);
  const auto rescale = [&](const char* name, double factor) {
    return Rescale(b, name, {factor}, Rounding::kTflite, kI32, kI64);
  };
  const Rescale of_lhs = rescale("lhs", o.lhs_scale / common),
                of_rhs = rescale("rhs", o.rhs_scale / common),
                of_sum = rescale("sum", common / (std::exp2(shift) * o.out_scale));
  return [=](const Indices& i) {
    const auto shifted = [&](const Access& x) {
      return Shl(x(i), loop::IntConst(loop::Type::Of(kI32), shift));
    };
    return of_sum(
        Combine(operation, of_lhs(shifted(o.lhs), Expr(0)), of_rhs(shifted(o.rhs), Expr(0))),
        Expr(0));
  };
}

// Both operands are rescaled to the scale of the output and rounded, then added.
Access RequantizedSum(StageBuilder& b, const Operands& o, Operation operation, Rounding rounding) {
  const Rescale of_lhs(b, "lhs", {o.lhs_scale / o.out_scale}, rounding, kI32, kI64),
      of_rhs(b, "rhs", {o.rhs_scale / o.out_scale}, rounding, kI32, kI64);
  return [=](const Indices& i) {
    return Combine(operation, of_lhs(o.lhs(i), Expr(0)), of_rhs(o.rhs(i), Expr(0)));
  };
}

// The result in float32, rounded once.
Access FloatResult(const Operands& o, Operation operation) {
  return [=](const Indices& i) {
    const auto real = [&](const Access& x, double scale) {
      return loop::MakeCast(kF32, x(i)) * loop::Const(kF32, scale);
    };
    return loop::RoundEven(Combine(operation, real(o.lhs, o.lhs_scale), real(o.rhs, o.rhs_scale)) /
                           loop::Const(kF32, o.out_scale));
  };
}

// The operator, applied to numbers as they are stored.
Access Result(StageBuilder& b, Operation operation, Rounding rounding, const Access& lhs,
              const Access& rhs) {
  const auto scale = [&](int k) { return OperandValues(b, k)[0]; };
  const Operands o = {.lhs = Centred(b, lhs, kLhsZero, kI32),
                      .rhs = Centred(b, rhs, kRhsZero, kI32),
                      .lhs_scale = scale(kLhsScale),
                      .rhs_scale = scale(kRhsScale),
                      .out_scale = scale(kResultScale)};
  const DType dtype = b.output_dtype(0);
  const Access result = rounding == Rounding::kEven         ? FloatResult(o, operation)
                        : operation == Operation::kMultiply ? FixedProduct(b, o, rounding)
                        : rounding == Rounding::kTflite     ? TfliteSum(b, o, operation, dtype)
                                                        : RequantizedSum(b, o, operation, rounding);
  const auto zero = OperandAt(b, kResultZero);
  return [=](const Indices& i) { return Saturate(result(i), zero(Expr(0)), dtype); };
}

// The same result by a single rounding, if the operator is linear except for its rounding: sums and
// differences of 8-bit numbers with constant zero points, with TFLITE and EVEN. Else nothing.
absl::StatusOr<std::optional<SumOfBytes>> AsSumOfBytes(StageBuilder& b, Operation operation,
                                                       Rounding rounding) {
  const DType dtype = b.output_dtype(0);
  bool linear = rounding == Rounding::kTflite || rounding == Rounding::kEven;
  linear = linear && operation != Operation::kMultiply && dtype.bits == 8;
  for (int k : {kLhsZero, kRhsZero, kResultZero}) linear = linear && b.constant(k) != nullptr;
  if (!linear) return std::nullopt;
  const auto result = [&](const Expr& lhs, const Expr& rhs) {
    const auto access = [](const Expr& e) { return [e](const Indices&) { return e; }; };
    return Result(b, operation, rounding, access(lhs), access(rhs))({});
  };
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ValuesOfPairs(dtype, result));
  const auto number = [&](int k) { return OperandValues(b, k)[0]; };
  const double lhs = number(kLhsScale) / number(kResultScale);
  const double rhs = SignOf(operation) * number(kRhsScale) / number(kResultScale);
  const double constant = number(kResultZero) - lhs * number(kLhsZero) - rhs * number(kRhsZero);
  return FitSumOfBytes(dtype, {lhs, rhs, constant}, values);
}

template <Operation kOperation>
absl::Status LowerQnnArithmetic(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Rounding rounding, RoundingOf(b.attrs(), 6));
  const Access lhs = Broadcast(b.Input(kLhs), b.input_shape(kLhs)),
               rhs = Broadcast(b.Input(kRhs), b.input_shape(kRhs));
  KILN_ASSIGN_OR_RETURN(const std::optional<SumOfBytes> sum, AsSumOfBytes(b, kOperation, rounding));
  if (!sum.has_value()) {
    b.Output(0, Result(b, kOperation, rounding, lhs, rhs));
    return absl::OkStatus();
  }
  const auto integer = [](int64_t value) { return loop::IntConst(loop::Type::Of(kI32), value); };
  b.Output(0, [&, dtype = b.output_dtype(0)](const Indices& i) {
    const Expr value = loop::MakeCast(kI32, lhs(i)) * integer(sum->lhs) +
                       loop::MakeCast(kI32, rhs(i)) * integer(sum->rhs) + integer(sum->constant);
    const Expr shift = integer(sum->shift);
    return Saturate(Shr(value, shift), integer(0), dtype);
  });
  return absl::OkStatus();
}

std::vector<Tensor> Operands8(Tensor lhs, Tensor rhs) {
  return {std::move(lhs), std::move(rhs), Scale(0.5),   ZeroPoint(1),
          Scale(0.25),    ZeroPoint(-2),  Scale(0.125), ZeroPoint(3)};
}

OpExample RandomArithmetic(DType dtype, Shape lhs, Shape rhs, std::string rounding) {
  const bool is8 = dtype.bits == 8;
  return {.inputs = WithScales({{lhs, dtype}, {rhs, dtype}}),
          .attrs = {{"rounding", rounding}},
          .values = {Tensor(), Tensor(), Scale(0.031), ZeroPoint(is8 ? 4 : 0), Scale(0.047),
                     ZeroPoint(is8 ? -7 : 0), Scale(0.066), ZeroPoint(is8 ? 11 : 0)},
          .input_min = is8 ? -32.0 : -8000.0,
          .input_max = is8 ? 31.0 : 8000.0};
}

OpDef ArithmeticOp(std::string name, std::string doc, InferResult (*infer)(const InferContext&),
                   absl::Status (*lower)(StageBuilder&), const std::vector<double>& expected) {
  std::vector<OpExample> examples;
  for (const char* rounding : {"UPWARD", "TFLITE", "EVEN"}) {
    examples.push_back(Case(Operands8(Values(I8({3}), {1, 3, 5}), Values(I8({3}), {-2, 2, 6})),
                            {{"rounding", rounding}}, {Values(I8({3}), expected)}));
  }
  for (const char* rounding : {"UPWARD", "TONEAREST", "TFLITE", "EVEN"}) {
    examples.push_back(RandomArithmetic(DType::Int(8), {3, 7}, {7}, rounding));
  }
  examples.push_back(RandomArithmetic(DType::Int(16), {3, 7}, {3, 7}, "TFLITE"));
  // The result of each of the three operators exceeds 32 bits in the scale of the output.
  const TensorType pair = {{2}, DType::Int(16)};
  examples.push_back(Case({Values(pair, {30000, -30000}), Values(pair, {20000, 20000}), Scale(1),
                           ZeroPoint(0), Scale(1), ZeroPoint(0), Scale(0x1p-15), ZeroPoint(0)},
                          {{"rounding", "TFLITE"}}, {Values(pair, {32767, -32768})}));
  return {
      {.name = std::move(name),
       .doc = std::move(doc),
       .inputs = {{"lhs", "integers"},
                  {"rhs", "integers"},
                  {"lhs_scale", "a constant"},
                  {"lhs_zero_point", "int32"},
                  {"rhs_scale", "a constant"},
                  {"rhs_zero_point", "int32"},
                  {"output_scale", "a constant"},
                  {"output_zero_point", "int32"}},
       .attrs = {{"lhs_axis", AttrType::kInt, -1, false, "kept for Relay; has no effect here"},
                 {"rhs_axis", AttrType::kInt, -1, false, "kept for Relay; has no effect here"},
                 RoundingAttr()}},
      {"lhs and rhs hold integers of up to 16 bits", "their dtypes are equal",
       "their shapes broadcast", "scales are float32 or float64 constants of one element above 0",
       "zero points are int32 of one element", "rounding is one of the modes named above",
       "except with EVEN, the quotient of scales used as a factor is less than 2^30"},
      {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
      infer,
      lower,
      std::move(examples)};
}

const OpDef kQnnArithmetic[] = {
    ArithmeticOp("qnn.add",
                 "The sum of quantized numbers, as a quantized number. UPWARD and TONEAREST bring "
                 "both to the scale of the output, round them and add them. TFLITE brings both to "
                 "twice the larger scale with 20 more bits (15 for int16), adds them and brings "
                 "the sum to the scale of the output. EVEN adds and divides in float32.",
                 InferQnnArithmetic<Operation::kAdd>, LowerQnnArithmetic<Operation::kAdd>,
                 {3, 19, 35}),
    ArithmeticOp("qnn.subtract", "The difference of quantized numbers, computed as in qnn.add.",
                 InferQnnArithmetic<Operation::kSubtract>, LowerQnnArithmetic<Operation::kSubtract>,
                 {3, 3, 3}),
    ArithmeticOp(
        "qnn.mul",
        "The product of quantized numbers, as a quantized number. The product of the integers is "
        "multiplied by the quotient lhs_scale * rhs_scale / output_scale and rounded.",
        InferQnnArithmetic<Operation::kMultiply>, LowerQnnArithmetic<Operation::kMultiply>,
        {3, 11, 35}),
};
KILN_REGISTER_OPS(kQnnArithmetic);

}  // namespace
}  // namespace kiln
