// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/quantized.h"

namespace kiln {
namespace {

InferResult InferQnnLeakyRelu(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  KILN_RETURN_IF_ERROR(CheckQuantized(data.dtype, 1));
  KILN_CONSTRAINT(1, data.dtype.bits <= 16, data.dtype.ToString(), "integers of up to 16 bits");
  KILN_RETURN_IF_ERROR(CheckScale(c, kScale, 1, Known::kPerhapsLater, 2));
  KILN_RETURN_IF_ERROR(CheckZeroPoint(c, kZero, 1, 3));
  const double alpha = c.attrs.Float("alpha");
  KILN_CONSTRAINT(4, alpha >= 0 && alpha <= 1, absl::StrCat("alpha ", alpha), "0 to 1");
  return OutputTypes({data});
}

// alpha (data - zero) + zero, as two products that are rounded separately.
absl::Status LowerQnnLeakyRelu(StageBuilder& b) {
  const DType i32 = DType::Int(32), i64 = DType::Int(64), dtype = b.output_dtype(0);
  const double alpha = b.attrs().Float("alpha");
  const Rescale of_data(b, "alpha", {alpha}, Rounding::kUpward, i32, i64),
      of_zero(b, "rest", {1 - alpha}, Rounding::kUpward, i32, i64);
  b.Output(0, [&, x = b.Input(kData), zero_at = OperandAt(b, kZero)](const Indices& i) {
    const Expr value = x(i), number = loop::MakeCast(i32, value), zero = zero_at(Expr(0));
    const Expr below = of_data(number, Expr(0)) + of_zero(zero, Expr(0));
    return loop::MakeSelect(number < zero, Saturate(below, loop::Const(i32, 0), dtype), value);
  });
  return absl::OkStatus();
}

const OpDef kQnnLeakyRelu = {
    {.name = "qnn.leaky_relu",
     .doc = "data, or round(alpha * data) + round((1 - alpha) * zero_point) if data is below its "
            "zero point. It is computed in fixed point of 31 bits, with halves rounded up.",
     .inputs = {{"data", "integers"},
                {"scale", "scale of data and of the result; has no effect here"},
                {"zero_point", "int32"}},
     .attrs = {{"alpha", AttrType::kFloat, 0.25, false, "slope below 0"}}},
    {"data holds integers of up to 16 bits", "the scale is float32 or float64 above 0",
     "the zero point is int32 of one element", "alpha is from 0 to 1"},
    {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
    InferQnnLeakyRelu,
    LowerQnnLeakyRelu,
    {Case({Values(I8({4}), {2, 10, -6, 20}), Scale(0.5), ZeroPoint(10)}, {},
          {Values(I8({4}), {9, 10, 7, 20})}),
     Case({Values(U8({3}), {0, 100, 255}), Scale(0.5), ZeroPoint(128)}, {{"alpha", 0.0}},
          {Values(U8({3}), {128, 128, 255})}),
     {.inputs = {{{3, 7}, DType::Int(16)}, ScaleType(), I32({})},
      .attrs = {{"alpha", 0.3}},
      .values = {Tensor(), Scale(0.1), ZeroPoint(0)},
      .input_min = -8000,
      .input_max = 8000}},
};
KILN_REGISTER_OP(kQnnLeakyRelu);

}  // namespace
}  // namespace kiln
