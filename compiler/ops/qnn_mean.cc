// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/quantized.h"
#include "compiler/ops/reduction.h"

namespace kiln {
namespace {

InferResult InferQnnMean(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  KILN_CONSTRAINT(1, data.dtype.is_integral() && !data.dtype.is_bool() && data.dtype.bits <= 16,
                  data.dtype.ToString(), "integers of up to 16 bits");
  KILN_ASSIGN_OR_RETURN(Shape shape, InferReducedShape(c.attrs, data.shape, 2));
  const int64_t count = data.num_elements() / std::max<int64_t>(NumElements(shape), 1);
  const int64_t most = (int64_t{1} << (31 - data.dtype.bits + (data.dtype.is_int() ? 1 : 0)));
  KILN_CONSTRAINT(5, count <= most, absl::StrCat("the mean of ", count, " numbers"),
                  absl::StrCat("at most ", most, ", whose sum 32 bits hold"));
  for (size_t k : {kScale, kOutScale}) {
    KILN_RETURN_IF_ERROR(CheckScale(c, k, 1, Known::kAtCompileTime, 3));
  }
  for (size_t k : {kZero, kOutZero}) {
    KILN_RETURN_IF_ERROR(CheckZeroPoint(c, k, 1, 4));
    KILN_CONSTRAINT(4, c.constants[k] != nullptr, "a zero point that is computed", "a constant");
  }
  const double factor = c.constants[kScale]->AsDouble(0) / c.constants[kOutScale]->AsDouble(0);
  KILN_CONSTRAINT(3, factor >= 0x1p-30 && factor < 0x1p30, absl::StrCat("the quotient ", factor),
                  "2^-30 to 2^30");
  return OutputTypes({{std::move(shape), data.dtype}});
}

// factor / count, by an integer division of the multiplier. The multiplier is first shifted to the
// left to keep its precision.
FixedPointFactor DividedBy(FixedPointFactor factor, int64_t count) {
  const int bits = 63 - std::countl_zero(static_cast<uint64_t>(count));
  const int shift = std::min({bits, 32, 31 + factor.shift});
  return {static_cast<int32_t>((int64_t{factor.multiplier} << shift) / count),
          factor.shift - shift};
}

absl::Status LowerQnnMean(StageBuilder& b) {
  const auto number = [&](int k) { return OperandValues(b, k)[0]; };
  const Access sum =
      ReduceInput(b, "sum", loop::Combine::kSum, [](Expr x) { return loop::MakeCast(kI32, x); });
  const int64_t count = std::max<int64_t>(NumElements(ReducedExtents(b)), 1);
  const FixedPointFactor factor =
      DividedBy(ToFixedPoint(number(kScale) / number(kOutScale)), count);
  const Expr zero = I32Const(static_cast<int64_t>(number(kOutZero)));
  const Expr zeros = I32Const(static_cast<int64_t>(number(kZero)) * count);
  b.Output(0, [&](const Indices& i) {
    Expr value = sum(i) - zeros;
    if (factor.shift > 0) value = ShiftLeftWithinBounds(value, I32Const(factor.shift));
    value = DivideByPowerOfTwo(MultiplyHigh(value, I32Const(factor.multiplier)),
                               std::max(-factor.shift, 0));
    return Saturate(value, zero, b.output_dtype(0));
  });
  return absl::OkStatus();
}

std::vector<Tensor> MeanOperands(Tensor data, double out_scale, int64_t out_zero) {
  return {std::move(data), Scale(0.5), ZeroPoint(3), Scale(out_scale), ZeroPoint(out_zero)};
}
OpExample RandomMean(TensorType data, double out_scale, int64_t out_zero, Attrs attrs) {
  return QuantizedExample(std::move(data), MeanOperands(Tensor(), out_scale, out_zero),
                          std::move(attrs));
}

const OpDef kQnnMean = {
    {.name = "qnn.mean",
     .doc = "The mean of quantized numbers over axes, as in TFLite's reference kernel: the sum of "
            "their differences from the zero point, times one factor in fixed point.",
     .inputs = {{"data", "integers"},
                {"input_scale", "a constant"},
                {"input_zero_point", "a constant"},
                {"output_scale", "a constant"},
                {"output_zero_point", "a constant"}},
     .attrs = ReductionAttrs()},
    {"data holds integers of up to 16 bits", "axis names axes of data, each at most once",
     "scales are constants above 0, and their quotient is between 2^-30 and 2^30",
     "zero points are int32 constants", "the sum of any data fits in 32 bits"},
    {.fusion = Fusion::kReduction, .layout = {LayoutRule::kReduction, "axis"}},
    InferQnnMean,
    LowerQnnMean,
    {// 8/3 and -8/3 are rounded even if the output has the scale and zero point of data.
     Case(MeanOperands(Values(I8({2, 3}), {1, 2, 5, -1, -2, -5}), 0.5, 3), {{"axis", List({1})}},
          {Values(I8({2}), {3, -3})}),
     // (8/3 - 3) * 0.5 is -1/6, or -1.67 in the output scale of 0.1.
     Case(MeanOperands(Values(I8({1, 3}), {1, 2, 5}), 0.1, 10), {{"axis", List({1})}},
          {Values(I8({1}), {8})}),
     // The result exceeds 32 bits in the scale of the output.
     Case(MeanOperands(Values(I8({2, 2}), {100, 100, -100, -100}), 0x1p-26, 0),
          {{"axis", List({1})}}, {Values(I8({2}), {127, -128})}),
     RandomMean(I8({1, 4, 5, 7}), 0.3, -4, {{"axis", List({1, 2})}}),
     RandomMean(U8({2, 6, 3}), 0.7, 100, {{"axis", List({1})}, {"keepdims", true}})},
};
KILN_REGISTER_OP(kQnnMean);

}  // namespace
}  // namespace kiln
