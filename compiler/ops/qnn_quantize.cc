// SPDX-License-Identifier: Apache-2.0
// qnn.quantize and qnn.dequantize.
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/quantized.h"

namespace kiln {
namespace {

// Checks constraints 2 to 4 of both operators.
absl::Status CheckOperands(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  int64_t places = 1;
  if (data.rank() > 0) {
    KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
    places = data.shape[static_cast<size_t>(axis)];
  }
  KILN_RETURN_IF_ERROR(CheckScale(c, kScale, places, Known::kPerhapsLater, 3));
  return CheckZeroPoint(c, kZero, places, 4);
}

bool IsEven(const Attrs& attrs) { return attrs.String("rounding") == "EVEN"; }

InferResult InferQuantize(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  KILN_CONSTRAINT(1, data.dtype.is_float(), data.dtype.ToString(), "floats");
  KILN_RETURN_IF_ERROR(CheckOperands(c));
  const DType dtype = c.attrs.DTypeOr("out_dtype", DType::Int(8));
  KILN_RETURN_IF_ERROR(CheckQuantized(dtype, 5));
  KILN_CONSTRAINT(5, dtype.bits <= 16, dtype.ToString(), "integers of up to 16 bits");
  KILN_CONSTRAINT(6, IsEven(c.attrs) || c.attrs.String("rounding") == "AWAY",
                  absl::StrCat("rounding ", c.attrs.String("rounding")), "AWAY or EVEN");
  return OutputTypes({{data.shape, dtype}});
}

InferResult InferDequantize(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  KILN_RETURN_IF_ERROR(CheckQuantized(data.dtype, 1));
  KILN_RETURN_IF_ERROR(CheckOperands(c));
  return OutputTypes({{data.shape, DType::Float(32)}});
}

// Scale and zero point for an index of data.
struct QuantizeOperands {
  std::function<Expr(const Expr&)> scale, zero;
  size_t axis = 0;
  bool has_axis = false;

  Expr Place(const Indices& i) const { return has_axis ? i[axis] : Expr(0); }
};

QuantizeOperands QuantizeOperandsOf(const StageBuilder& b) {
  const size_t rank = b.input_shape(kData).size();
  return {.scale = OperandAt(b, kScale),
          .zero = OperandAt(b, kZero),
          .axis = rank == 0 ? 0 : AxisOf(b.attrs().Int("axis"), rank),
          .has_axis = rank > 0};
}

absl::Status LowerQuantize(StageBuilder& b) {
  const QuantizeOperands o = QuantizeOperandsOf(b);
  const DType dtype = ComputeType(b.input_dtype(kData));
  b.Output(0, [&, x = b.Input(kData)](const Indices& i) {
    const Expr place = o.Place(i);
    return QuantizeFloat(x(i) / loop::MakeCast(dtype, o.scale(place)), o.zero(place),
                         IsEven(b.attrs()), b.output_dtype(0));
  });
  return absl::OkStatus();
}

absl::Status LowerDequantize(StageBuilder& b) {
  const QuantizeOperands o = QuantizeOperandsOf(b);
  const DType f32 = DType::Float(32), whole = DType::Int(b.input_dtype(kData).bits < 32 ? 32 : 64);
  const bool is_centred = IsZero(b, kZero);
  b.Output(0, [&, x = b.Input(kData)](const Indices& i) {
    const Expr place = o.Place(i);
    const Expr centred =
        is_centred ? x(i) : loop::MakeCast(whole, x(i)) - loop::MakeCast(whole, o.zero(place));
    return loop::MakeCast(f32, centred) * loop::MakeCast(f32, o.scale(place));
  });
  return absl::OkStatus();
}

const OpDef kQuantize = {
    {.name = "qnn.quantize",
     .doc = "round(data / output_scale) + output_zero_point, saturated to out_dtype. NaN becomes "
            "the zero point.",
     .inputs = {{"data", "floats"},
                {"output_scale", "one scale, or one per position of the axis"},
                {"output_zero_point", "int32: one zero point, or one per position of the axis"}},
     .attrs = {{"out_dtype", AttrType::kDType, "int8", false, "dtype of the result"},
               {"axis", AttrType::kInt, -1, false, "axis of the scales and zero points"},
               {"rounding", AttrType::kString, "AWAY", false,
                "AWAY: halves away from zero, as in TFLite; EVEN: halves to the even neighbor, as "
                "in ONNX"}}},
    {"data holds floats", "axis is an axis of data",
     "the scale is float32 or float64 above 0, with one element or one per position of the axis",
     "the zero point is int32, with one element or one per position of the axis",
     "out_dtype is an integer type of up to 16 bits", "rounding is AWAY or EVEN"},
    {.fusion = Fusion::kElementwise, .layout = {LayoutRule::kAxis, "axis"}},
    InferQuantize,
    LowerQuantize,
    {Case({Values(F32({6}), {-1.25, -0.25, 0.25, 0.75, 100, -100}), Scale(0.5), ZeroPoint(-3)}, {},
          {Values(I8({6}), {-6, -4, -2, -1, 127, -128})}),
     Case({Values(F32({4}), {-1.25, -0.25, 0.25, 0.75}), Scale(0.5), ZeroPoint(128)},
          {{"out_dtype", "uint8"}, {"rounding", "EVEN"}}, {Values(U8({4}), {126, 128, 128, 130})}),
     Case({Values(F32({2, 2}), {1, 2, 3, 4}), Scales({0.5, 0.25}), ZeroPoint(0)},
          {{"axis", 0}, {"out_dtype", "int16"}},
          {Values({{2, 2}, DType::Int(16)}, {2, 4, 12, 16})}),
     {.inputs = {F32({3, 7}), F32({}), I32({})}, .values = {Tensor(), Scale(0.013), ZeroPoint(5)}},
     {.inputs = {F16({3, 7}), F32({7}), I32({})},
      .values = {Tensor(), Scales({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}), ZeroPoint(5)}}},
};
KILN_REGISTER_OP(kQuantize);

const OpDef kDequantize = {
    {.name = "qnn.dequantize",
     .doc =
         "The numbers that data stands for: input_scale * (data - input_zero_point), in float32.",
     .inputs = {{"data", "integers"},
                {"input_scale", "one scale, or one per position of the axis"},
                {"input_zero_point", "int32: one zero point, or one per position of the axis"}},
     .attrs = {{"axis", AttrType::kInt, -1, false, "axis of the scales and zero points"}}},
    {"data holds integers of up to 32 bits", "axis is an axis of data",
     "the scale is float32 or float64 above 0, with one element or one per position of the axis",
     "the zero point is int32, with one element or one per position of the axis"},
    {.fusion = Fusion::kElementwise, .layout = {LayoutRule::kAxis, "axis"}},
    InferDequantize,
    LowerDequantize,
    {Case({Values(U8({3}), {0, 128, 255}), Scale(0.5), ZeroPoint(128)}, {},
          {Values(F32({3}), {-64, 0, 63.5})}),
     Case({Values(I8({2, 2}), {-1, 2, 3, -4}), Scales({0.5, 2}), ZeroPoint(0)}, {{"axis", 0}},
          {Values(F32({2, 2}), {-0.5, 1, 6, -8})}),
     Case({Values(I32({2}), {-2147483648.0, 2147483647}), Scale(1), ZeroPoint(1000)}, {},
          {Values(F32({2}), {-2147484672.0, 2147482624})}),
     Case({Values({{2}, DType::UInt(32)}, {3000000000, 1}), Scale(1), ZeroPoint(0)}, {},
          {Values(F32({2}), {3000000000, 1})}),
     {.inputs = {I32({3, 5}), F32({}), I32({})}, .values = {Tensor(), Scale(0.013), ZeroPoint(0)}}},
};
KILN_REGISTER_OP(kDequantize);

}  // namespace
}  // namespace kiln
