// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/quantized.h"
#include "compiler/ops/quantized_softmax.h"

namespace kiln {
namespace {

constexpr int kOutIntegerBits = 4;

InferResult InferQnnLogSoftmax(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  KILN_CONSTRAINT(1, data.dtype == DType::Int(8), data.dtype.ToString(), "int8");
  KILN_RETURN_IF_ERROR(NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2).status());
  KILN_RETURN_IF_ERROR(CheckScale(c, kScale, 1, Known::kAtCompileTime, 3));
  const double scale = c.constants[kScale]->AsDouble(0);
  KILN_CONSTRAINT(3, scale > LeastSoftmaxScale(), absl::StrCat("the scale ", scale),
                  absl::StrCat("more than ", LeastSoftmaxScale()));
  KILN_RETURN_IF_ERROR(CheckZeroPoint(c, kZero, 1, 4));
  KILN_RETURN_IF_ERROR(CheckResultIs(c, kOutScale, 16, 127, 5));
  const int64_t extent = data.shape[AxisOf(c.attrs.Int("axis"), data.shape.size())];
  KILN_CONSTRAINT(6, extent < 1 << kSumIntegerBits, absl::StrCat(extent, " places"),
                  absl::StrCat("fewer than ", 1 << kSumIntegerBits));
  return OutputTypes({data});
}

// Bound on the distance of a number below the largest one of its row. At this distance or more,
// subtracting the logarithm of the sum could overflow.
Expr Radius(const Expr& log_sum, const SoftmaxTables& tables) {
  // The inverse of the factor by which differences are rescaled.
  const FixedPointFactor inverse =
      ToFixedPoint(std::exp2(31 - tables.factor.shift) / tables.factor.multiplier);
  const Expr room = log_sum + I32Const(std::numeric_limits<int32_t>::min());
  const Expr least = DivideByPowerOfTwo(MultiplyHigh(room, I32Const(inverse.multiplier)),
                                        std::max(-inverse.shift, 0));
  // Distances are below 256, so that larger radii make no difference.
  return Min(I32Const(std::min<int64_t>(tables.radius, 256) + 1), -least);
}

absl::Status LowerQnnLogSoftmax(StageBuilder& b) {
  const Shape& shape = b.input_shape(kData);
  std::vector<bool> reduced(shape.size());
  reduced[AxisOf(b.attrs().Int("axis"), shape.size())] = true;
  const Shape rows = ReducedShape(shape, reduced, false);
  const Shape row = ReductionExtents(shape, reduced);
  const SoftmaxTables tables = MakeSoftmaxTables(OperandValues(b, kScale)[0]);
  const Access x = b.Input(kData), exp = b.Table("exp", tables.exponentials),
               rescaled = b.Table("rescaled", tables.rescaled);
  const Access max = b.Reduce(
      "max", rows, row, loop::Combine::kMax,
      [&](const Indices& i, const Indices& r) { return x(UnreducedIndex(i, r, reduced, false)); });
  const auto below = [=](const Indices& i) {
    return loop::MakeCast(kI32, max(ReducedIndex(i, reduced))) - loop::MakeCast(kI32, x(i));
  };
  const Access sum =
      b.Reduce("sum", rows, row, loop::Combine::kSum, [&](const Indices& i, const Indices& r) {
        return DivideByPowerOfTwo(
            exp({ClampIndex(below(UnreducedIndex(i, r, reduced, false)), 256)}), kSumIntegerBits);
      });
  const Access log_sum =
      b.Compute("log_sum", rows, [&](const Indices& i) { return FixedPointLog(sum(i)); });
  const Access radius =
      b.Compute("radius", rows, [&](const Indices& i) { return Radius(log_sum(i), tables); });
  b.Output(0, [&](const Indices& i) {
    const Indices at = ReducedIndex(i, reduced);
    const Expr n = below(i), valid = n < radius(at);
    // At the radius and beyond, the difference could overflow.
    const Expr difference =
        loop::MakeSelect(valid, rescaled({ClampIndex(n, 256)}), I32Const(0)) - log_sum(at);
    const Expr y = DivideByPowerOfTwo(difference, 31 - kDifferenceIntegerBits - kOutIntegerBits);
    return loop::MakeSelect(valid, Saturate(y, I32Const(127), DType::Int(8)),
                            loop::IntConst(loop::Type::Of(DType::Int(8)), -128));
  });
  return absl::OkStatus();
}

std::vector<Tensor> LogSoftmaxOperands(Tensor data, double scale) {
  return {std::move(data), Scale(scale), ZeroPoint(0), Scale(1.0 / 16), ZeroPoint(127)};
}

OpExample LogSoftmaxExample(TensorType data, double scale, Attrs attrs) {
  return QuantizedExample(std::move(data), LogSoftmaxOperands(Tensor(), scale), std::move(attrs));
}

const OpDef kLogSoftmax = {
    {.name = "qnn.log_softmax",
     .doc = "The logarithm of softmax of quantized numbers, as in TFLite's reference kernel: "
            "exponentials, their sum and its logarithm are computed in fixed point of 32 bits. The "
            "zero point of data has no effect.",
     .inputs = {{"data", "int8"},
                {"input_scale", "a constant"},
                {"input_zero_point", "int32"},
                {"output_scale", "the constant 1/16"},
                {"output_zero_point", "the constant 127"}},
     .attrs = {{"axis", AttrType::kInt, -1, false,
                "axis along which the exponentials of the results sum to 1"}}},
    {"data holds int8", "axis is an axis of data",
     "scales are constants of one element above 0, and input_scale is more than 2^-26",
     "the zero point of data is int32 of one element",
     "output_scale is 1/16 and output_zero_point 127", "the axis has fewer than 4096 positions"},
    {.fusion = Fusion::kReduction, .layout = {LayoutRule::kAxis, "axis"}},
    InferQnnLogSoftmax,
    LowerQnnLogSoftmax,
    {// The exact results are 115.97, 99.97, 51.97, 107.97 and -104.8 in numbers of the output.
     Case(LogSoftmaxOperands(Values(I8({1, 5}), {10, 0, -30, 5, -128}), 0.1), {},
          {Values(I8({1, 5}), {116, 100, 52, 108, -105})}),
     // The logarithms of the larger differences are too low for the output.
     Case(LogSoftmaxOperands(Values(I8({4, 1}), {127, 100, -128, 120}), 0.5), {{"axis", 0}},
          {Values(I8({4, 1}), {127, -89, -128, 71})}),
     LogSoftmaxExample(I8({3, 10}), 0.05, {}),
     LogSoftmaxExample(I8({2, 5, 3}), 0.2, {{"axis", 1}})},
};
KILN_REGISTER_OP(kLogSoftmax);

}  // namespace
}  // namespace kiln
