// SPDX-License-Identifier: Apache-2.0
// qnn.simulated_quantize and qnn.simulated_dequantize: the numbers that quantization gives, as
// floats. The dtype is an input: 0 none, 1 int8, 2 uint8, 3 int32.
#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/quantized.h"

namespace kiln {
namespace {

enum { kSimulatedData, kDType, kSimulatedScale, kSimulatedZero };

InferResult InferQnnSimulated(const InferContext& c) {
  const TensorType &data = c.inputs[kSimulatedData], &code = c.inputs[kDType];
  KILN_CONSTRAINT(1, data.dtype.is_float(), data.dtype.ToString(), "floats");
  KILN_CONSTRAINT(2, code.dtype.is_integral() && code.num_elements() == 1, code.ToString(),
                  "one integer");
  int64_t places = 1;
  if (data.rank() > 0) {
    KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 3));
    places = data.shape[static_cast<size_t>(axis)];
  }
  KILN_RETURN_IF_ERROR(CheckScale(c, kSimulatedScale, places, Known::kPerhapsLater, 4));
  KILN_RETURN_IF_ERROR(CheckZeroPoint(c, kSimulatedZero, places, 5));
  return OutputTypes({data});
}

// The code of the dtype, and scale and zero point of an element in the dtype of data.
struct SimulatedOperands {
  Expr code, scale, zero;
};

SimulatedOperands SimulatedOperandsOf(const StageBuilder& b, const Indices& i, DType dtype) {
  const Expr place = i.empty() ? Expr(0) : i[AxisOf(b.attrs().Int("axis"), i.size())];
  const auto number = [&](const Expr& value) {
    return value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
  };
  const Expr code = b.Input(kDType)(Indices(b.input_shape(kDType).size(), Expr(0)));
  return {loop::ToIndex(code), number(OperandAt(b, kSimulatedScale)(place)),
          number(OperandAt(b, kSimulatedZero)(place))};
}

Expr IsQuantized(const Expr& code) { return code >= Expr(1) && code <= Expr(3); }

absl::Status LowerSimulatedQuantize(StageBuilder& b) {
  const DType dtype = ComputeType(b.output_dtype(0));
  b.Output(0, [&, x = b.Input(kSimulatedData)](const Indices& i) {
    const SimulatedOperands o = SimulatedOperandsOf(b, i, dtype);
    // Selects the number for the dtype of the code.
    const auto choose = [&](double int8, double uint8, double int32) {
      return loop::MakeSelect(o.code == Expr(1), loop::Const(dtype, int8),
                              loop::MakeSelect(o.code == Expr(2), loop::Const(dtype, uint8),
                                               loop::Const(dtype, int32)));
    };
    const Expr value = x(i), whole = loop::RoundAway(value / o.scale) + o.zero;
    const Expr saturated =
        Max(Min(whole, choose(127, 255, 0x7fffffff)), choose(-128, 0, -0x80000000LL));
    return loop::MakeSelect(IsQuantized(o.code), saturated, value);
  });
  return absl::OkStatus();
}

absl::Status LowerSimulatedDequantize(StageBuilder& b) {
  const DType dtype = ComputeType(b.output_dtype(0));
  b.Output(0, [&, x = b.Input(kSimulatedData)](const Indices& i) {
    const SimulatedOperands o = SimulatedOperandsOf(b, i, dtype);
    const Expr value = x(i);
    return loop::MakeSelect(IsQuantized(o.code), (value - o.zero) * o.scale, value);
  });
  return absl::OkStatus();
}

OpDef Simulated(std::string name, std::string doc, const std::string& direction,
                absl::Status (*lower)(StageBuilder&), std::vector<OpExample> examples) {
  examples.push_back({.inputs = {F16({2, 3}), I32({1}), F32({3}), I32({3})},
                      .values = {Tensor(), Values(I32({1}), {2}), Scales({0.5, 0.25, 1}),
                                 Values(I32({3}), {1, 2, 3})}});
  return {
      {.name = std::move(name),
       .doc = std::move(doc),
       .inputs = {{"data", "floats"},
                  {absl::StrCat(direction == "output" ? "out" : "in", "_dtype"),
                   "one integer: 0 is none, 1 is int8, 2 is uint8, 3 is int32"},
                  {direction + "_scale", "one scale, or one per position of the axis"},
                  {direction + "_zero_point",
                   "int32: one zero point, or one per position of the axis"}},
       .attrs = {{"axis", AttrType::kInt, -1, false, "axis of the scales and zero points"}}},
      {"data holds floats", "the dtype is one integer", "axis is an axis of data",
       "the scale is float32 or float64 above 0, with one element or one per position of the axis",
       "the zero point is int32, with one element or one per position of the axis"},
      {.fusion = Fusion::kElementwise, .layout = {LayoutRule::kAxis, "axis"}},
      InferQnnSimulated,
      lower,
      std::move(examples)};
}

Tensor Code(int64_t code) { return ZeroPoint(code); }

const OpDef kSimulated[] = {
    Simulated(
        "qnn.simulated_quantize",
        "The result of qnn.quantize, as floats: round(data / output_scale) + output_zero_point, "
        "with halves away from zero, within the range of out_dtype. If out_dtype is none, the "
        "result is data.",
        "output", LowerSimulatedQuantize,
        {Case({Values(F32({4}), {-1.25, 0.25, 100, -100}), Code(1), Scale(0.5), ZeroPoint(-3)}, {},
              {Values(F32({4}), {-6, -2, 127, -128})}),
         Case({Values(F32({2, 2}), {1, 2, 3, 900}), Code(2), Scales({0.5, 2}), ZeroPoint(7)},
              {{"axis", 0}}, {Values(F32({2, 2}), {9, 11, 9, 255})}),
         Case({Values(F32({2}), {1.5, -2.25}), Code(0), Scale(0.5), ZeroPoint(7)}, {},
              {Values(F32({2}), {1.5, -2.25})})}),
    Simulated("qnn.simulated_dequantize",
              "The result of qnn.dequantize for floats: (data - input_zero_point) * input_scale. "
              "If in_dtype is none, the result is data.",
              "input", LowerSimulatedDequantize,
              {Case({Values(F32({2}), {-6, 127}), Code(3), Scale(0.5), ZeroPoint(-3)}, {},
                    {Values(F32({2}), {-1.5, 65})}),
               Case({Values(F32({2}), {-6, 127}), Code(0), Scale(0.5), ZeroPoint(-3)}, {},
                    {Values(F32({2}), {-6, 127})})}),
};
KILN_REGISTER_OPS(kSimulated);

}  // namespace
}  // namespace kiln
