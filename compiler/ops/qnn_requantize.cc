// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/quantized.h"

namespace kiln {
namespace {

enum { kSource, kInputScale, kInputZero, kOutputScale, kOutputZero };

DType OutDType(const Attrs& attrs) { return attrs.DTypeOr("out_dtype", DType::Int(8)); }

InferResult InferQnnRequantize(const InferContext& c) {
  const TensorType& data = c.inputs[kSource];
  KILN_CONSTRAINT(1, data.dtype.is_int() || data.dtype.is_uint(), data.dtype.ToString(),
                  "integers");
  int64_t places = 1;
  if (data.rank() > 0) {
    KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
    places = data.shape[static_cast<size_t>(axis)];
  }
  for (size_t k : {kInputScale, kOutputScale}) {
    KILN_RETURN_IF_ERROR(CheckScale(c, k, places, Known::kAtCompileTime, 3));
  }
  for (size_t k : {kInputZero, kOutputZero}) KILN_RETURN_IF_ERROR(CheckZeroPoint(c, k, places, 4));
  KILN_ASSIGN_OR_RETURN(const Rounding rounding, RoundingOf(c.attrs, 5));
  KILN_RETURN_IF_ERROR(ComputeDTypeOf(c.attrs, 6).status());
  KILN_RETURN_IF_ERROR(CheckQuantized(OutDType(c.attrs), 7));
  const double limit = rounding == Rounding::kTflite && data.dtype.bits == 64 ? 0x1p14 : 0x1p30;
  for (int64_t i = 0; i < places; ++i) {
    const auto at = [&](size_t k) {
      const Tensor& scale = *c.constants[k];
      return scale.AsDouble(scale.type().num_elements() == 1 ? 0 : i);
    };
    const double factor = at(kInputScale) / at(kOutputScale);
    KILN_CONSTRAINT(8, factor < limit, absl::StrCat("the quotient ", factor),
                    absl::StrCat("less than ", limit));
  }
  return OutputTypes({{data.shape, OutDType(c.attrs)}});
}

absl::Status LowerQnnRequantize(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Rounding rounding, RoundingOf(b.attrs(), 5));
  KILN_ASSIGN_OR_RETURN(const DType compute, ComputeDTypeOf(b.attrs(), 6));
  const std::vector<double> in = OperandValues(b, kInputScale),
                            out = OperandValues(b, kOutputScale);
  const bool single = compute == DType::Float(32) || rounding == Rounding::kEven;
  std::vector<double> factors;
  for (size_t i = 0; i < std::max(in.size(), out.size()); ++i) {
    const double a = in[in.size() == 1 ? 0 : i], c = out[out.size() == 1 ? 0 : i];
    factors.push_back(single ? static_cast<float>(a) / static_cast<float>(c) : a / c);
  }
  const DType dtype = b.input_dtype(kSource);
  // int32 holds sums and their difference to the zero point, as in TFLite.
  const DType sums = dtype.bits == 64 || dtype == DType::UInt(32) ? DType::Int(64) : DType::Int(32);
  // With factors of 1 or more, TFLITE rounds once and equals UPWARD for results within 32 bits.
  // UPWARD can compute in 64 bits.
  const bool wide_result = rounding == Rounding::kTflite && OutDType(b.attrs()).bits == 32 &&
                           std::all_of(factors.begin(), factors.end(),
                                       [](double f) { return ToFixedPoint(f).shift > 0; });
  const Rescale rescale(b, "requantize", factors, wide_result ? Rounding::kUpward : rounding, sums,
                        wide_result ? DType::Int(64) : compute);
  const size_t rank = b.input_shape(kSource).size();
  const size_t axis = rank == 0 ? 0 : AxisOf(b.attrs().Int("axis"), rank);
  const auto in_zero = OperandAt(b, kInputZero), out_zero = OperandAt(b, kOutputZero);
  const bool centred = IsZero(b, kInputZero);
  b.Output(0, [&, x = b.Input(kSource)](const Indices& i) {
    const Expr place = rank == 0 ? Expr(0) : i[axis];
    Expr value = loop::MakeCast(sums, x(i));
    if (!centred) value = value - loop::MakeCast(sums, in_zero(place));
    return Saturate(rescale(value, place), out_zero(place), b.output_dtype(0));
  });
  return absl::OkStatus();
}

OpExample Requantize(Tensor data, Tensor in_scale, double in_zero, Tensor out_scale,
                     double out_zero, Attrs attrs, Tensor expected) {
  return Case({std::move(data), std::move(in_scale), ZeroPoint(static_cast<int64_t>(in_zero)),
               std::move(out_scale), ZeroPoint(static_cast<int64_t>(out_zero))},
              std::move(attrs), {std::move(expected)});
}

OpExample RandomRequantize(TensorType data, Tensor in_scale, Tensor out_scale, double out_zero,
                           Attrs attrs) {
  return {.inputs = {std::move(data), in_scale.type(), I32({}), out_scale.type(), I32({})},
          .attrs = std::move(attrs),
          .values = {Tensor(), in_scale, ZeroPoint(0), out_scale,
                     ZeroPoint(static_cast<int64_t>(out_zero))},
          .input_min = -3000,
          .input_max = 3000};
}

const OpDef kRequantize = {
    {.name = "qnn.requantize",
     .doc =
         "Quantized numbers in another scale: round((data - input_zero_point) * input_scale / "
         "output_scale) + output_zero_point, saturated to out_dtype. The quotient of the scales is "
         "computed in float64, or in float32 if compute_dtype is float32 or rounding is EVEN.",
     .inputs =
         {{"data",
           "integers; their differences from the zero point fit in 32 bits, except for int64"},
          {"input_scale", "a constant: one scale, or one per position of the axis"},
          {"input_zero_point", "int32: one zero point, or one per position of the axis"},
          {"output_scale", "in the form of input_scale"},
          {"output_zero_point", "in the form of input_zero_point"}},
     .attrs = {{"axis", AttrType::kInt, -1, false, "axis of the scales and zero points"},
               RoundingAttr(),
               {"compute_dtype", AttrType::kString, "None", false,
                "int64 (also \"None\"), float32 or float64; TFLITE always computes in fixed point, "
                "and EVEN always in floats"},
               {"out_dtype", AttrType::kDType, "", false, "dtype of the result; int8 if \"\""}}},
    {"data holds integers", "axis is an axis of data",
     "scales are float32 or float64 constants above 0, with one element or one per position of the "
     "axis",
     "zero points are int32, with one element or one per position of the axis",
     "rounding is one of the modes named above", "compute_dtype is one of the dtypes named above",
     "out_dtype is an integer type of up to 32 bits",
     "the quotients of scales are below 2^30 (2^14 with TFLITE and int64 data)"},
    {.fusion = Fusion::kElementwise, .layout = {LayoutRule::kAxis, "axis"}},
    InferQnnRequantize,
    LowerQnnRequantize,
    {Requantize(Values(I32({6}), {-3, -1, 1, 3, 1000, -1000}), Scale(0.5), 0, Scale(1), 10, {},
                Values(I8({6}), {9, 10, 11, 12, 127, -128})),
     Requantize(Values(I32({4}), {-3, -1, 1, 3}), Scale(0.5), 0, Scale(1), 0,
                {{"rounding", "TONEAREST"}}, Values(I8({4}), {-2, -1, 1, 2})),
     Requantize(Values(I32({4}), {-3, -1, 1, 3}), Scale(0.5), 0, Scale(1), 0,
                {{"rounding", "EVEN"}}, Values(I8({4}), {-2, 0, 0, 2})),
     // TFLITE rounds the product with the multiplier first and then the shift, halves away from
     // zero.
     Requantize(Values(I32({4}), {-12, -4, 4, 12}), Scale(0.125), 0, Scale(1), 0,
                {{"rounding", "TFLITE"}}, Values(I8({4}), {-2, -1, 1, 2})),
     Requantize(Values(I64({4}), {-12, -4, 4, 12}), Scale(0.125), 0, Scale(1), 0,
                {{"rounding", "TFLITE"}, {"out_dtype", "int16"}},
                Values({{4}, DType::Int(16)}, {-1, 0, 1, 2})),
     // Products beyond 32 bits saturate to the bound with their sign.
     Requantize(Values(I32({4}), {1 << 30, -(1 << 30), 3, -3}), Scale(4), 0, Scale(1), 0,
                {{"rounding", "TFLITE"}}, Values(I8({4}), {127, -128, 12, -12})),
     Requantize(Values(I32({2, 2}), {1 << 29, 4, -(1 << 29), -4}), Scales({8, 0.5}), 0, Scale(1), 0,
                {{"rounding", "TFLITE"}}, Values(I8({2, 2}), {127, 2, -128, -2})),
     Requantize(Values(I64({4}), {0x1p31, -0x1p31, 3, -3}), Scale(4), 0, Scale(1), 0,
                {{"rounding", "TFLITE"}, {"out_dtype", "int16"}},
                Values({{4}, DType::Int(16)}, {32767, -32768, 12, -12})),
     Requantize(Values(I32({4}), {30000, -30000, 1, -1}), Scale(0x1p18), 0, Scale(1), 0,
                {{"rounding", "TFLITE"}, {"out_dtype", "int32"}},
                Values(I32({4}), {2147483647, -2147483648.0, 262144, -262144})),
     // float32 rounds these numbers beyond the bounds of int32.
     Requantize(Values(I32({2}), {2147483647, -2147483648.0}), Scale(1), 0, Scale(1), 5,
                {{"rounding", "EVEN"}, {"out_dtype", "int32"}},
                Values(I32({2}), {2147483647, -2147483643})),
     Requantize(Values(U8({2, 2}), {130, 140, 150, 160}), Scales({1, 2}), 128, Scale(4), 128,
                {{"axis", 1}, {"out_dtype", "uint8"}}, Values(U8({2, 2}), {129, 134, 134, 144})),
     RandomRequantize(I32({3, 5}), Scale(0.0123), Scale(0.7), -3, {{"rounding", "TFLITE"}}),
     RandomRequantize(I32({3, 4}), Scales({0.01, 0.5, 2, 3}), Scale(1.3), 5,
                      {{"rounding", "TFLITE"}}),
     RandomRequantize(I32({2, 4}), Scales({0.01, 0.5, 2, 3}), Scale(1.3), 5,
                      {{"rounding", "UPWARD"}, {"compute_dtype", "float32"}}),
     RandomRequantize(I32({5, 4}), Scales({0.01, 0.5, 2, 3}), Scale(1.3), 5,
                      {{"rounding", "TONEAREST"}}),
     RandomRequantize(I64({5, 4}), Scales({0.01, 0.5, 2, 3}), Scale(1.3), 5,
                      {{"rounding", "TFLITE"}, {"out_dtype", "int16"}})},
};
KILN_REGISTER_OP(kRequantize);

}  // namespace
}  // namespace kiln
