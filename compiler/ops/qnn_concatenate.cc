// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/limits.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/quantized.h"

namespace kiln {
namespace {

// The inputs are n tensors, their n scales, their n zero points, and the scale and the zero point
// of the result.
struct ConcatenateOperands {
  size_t n = 0;

  size_t scale(size_t k) const { return n + k; }
  size_t zero(size_t k) const { return 2 * n + k; }
  size_t out_scale() const { return 3 * n; }
  size_t out_zero() const { return 3 * n + 1; }
};

InferResult InferQnnConcatenate(const InferContext& c) {
  const size_t count = c.inputs.size();
  KILN_CONSTRAINT(1, count >= 5 && count % 3 == 2, absl::StrCat(count, " tensors"),
                  "n of data, n scales, n zero points, and a scale and a zero point");
  const ConcatenateOperands o{(count - 2) / 3};
  const TensorType& first = c.inputs[0];
  KILN_RETURN_IF_ERROR(CheckQuantized(first.dtype, 2));
  KILN_CONSTRAINT(2, first.dtype.bits <= 16, first.dtype.ToString(), "integers of up to 16 bits");
  KILN_ASSIGN_OR_RETURN(const int normal, NormalizeAxis(c.attrs.Int("axis"), first.rank(), 3));
  const auto axis = static_cast<size_t>(normal);
  Shape shape = first.shape;
  shape[axis] = 0;
  for (size_t k = 0; k < o.n; ++k) {
    const TensorType& x = c.inputs[k];
    Shape others = x.shape;
    if (axis < others.size()) others[axis] = first.shape[axis];
    KILN_CONSTRAINT(4, x.dtype == first.dtype && others == first.shape,
                    absl::StrCat(x.ToString(), " beside ", first.ToString()),
                    "one dtype, and shapes that differ along the axis only");
    shape[axis] += x.shape[axis];
    KILN_CONSTRAINT(4, shape[axis] <= kMaxTensorElements, absl::StrCat("extent ", shape[axis]),
                    "a tensor within the limits");
    KILN_RETURN_IF_ERROR(CheckScale(c, o.scale(k), 1, Known::kAtCompileTime, 5));
    KILN_RETURN_IF_ERROR(CheckZeroPoint(c, o.zero(k), 1, 6));
  }
  KILN_RETURN_IF_ERROR(CheckScale(c, o.out_scale(), 1, Known::kAtCompileTime, 5));
  const auto scale = [&](size_t k) { return c.constants[k]->AsDouble(0); };
  for (size_t k = 0; k < o.n; ++k) {
    KILN_RETURN_IF_ERROR(CheckFactor(scale(o.scale(k)) / scale(o.out_scale()), 7));
  }
  KILN_RETURN_IF_ERROR(CheckZeroPoint(c, o.out_zero(), 1, 6));
  return OutputTypes({{std::move(shape), first.dtype}});
}

// Access to tensor k in the scale of the result; unchanged if it has that scale and zero point.
Access InScaleOfResult(StageBuilder& b, const ConcatenateOperands& o, size_t k) {
  const auto operand = [](size_t input) { return static_cast<int>(input); };
  const Access x = b.Input(operand(k));
  const double scale = OperandValues(b, operand(o.scale(k)))[0],
               out_scale = OperandValues(b, operand(o.out_scale()))[0];
  const std::vector<double> zero = OperandValues(b, operand(o.zero(k))),
                            out_zero = OperandValues(b, operand(o.out_zero()));
  if (scale == out_scale && !zero.empty() && zero == out_zero) return x;
  const DType i32 = DType::Int(32);
  const Rescale rescale(b, absl::StrCat("input", k), {scale / out_scale}, Rounding::kUpward, i32,
                        DType::Int(64));
  return [rescale, centred = Centred(b, x, operand(o.zero(k)), i32),
          to = OperandAt(b, operand(o.out_zero())), dtype = b.output_dtype(0)](const Indices& i) {
    return Saturate(rescale(centred(i), Expr(0)), to(Expr(0)), dtype);
  };
}

// Selects from the last tensor to the first: tensor k is read if the index along
// the axis is below its end.
absl::Status LowerQnnConcatenate(StageBuilder& b) {
  const ConcatenateOperands o{(static_cast<size_t>(b.num_inputs()) - 2) / 3};
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.output_shape(0).size());
  std::vector<Access> tensors;
  for (size_t k = 0; k < o.n; ++k) tensors.push_back(InScaleOfResult(b, o, k));
  b.Output(0, [&](const Indices& i) {
    Expr value;
    int64_t end = b.output_shape(0)[axis];
    for (size_t k = o.n; k-- > 0;) {
      const int64_t extent = b.input_shape(static_cast<int>(k))[axis], begin = end - extent;
      if (extent == 0) continue;
      Indices at = i;
      at[axis] = ClampIndex(i[axis] - Expr(begin), extent);
      const Expr own = tensors[k](at);
      value = value ? loop::MakeSelect(i[axis] < Expr(end), own, value) : own;
      end = begin;
    }
    return value ? value : loop::Const(b.output_dtype(0), 0);
  });
  return absl::OkStatus();
}

std::vector<Tensor> Two(Tensor a, Tensor b, double a_scale, double b_scale, int64_t b_zero) {
  return {std::move(a), std::move(b),      Scale(a_scale), Scale(b_scale),
          ZeroPoint(1), ZeroPoint(b_zero), Scale(0.5),     ZeroPoint(1)};
}

const OpDef kQnnConcatenate = {
    {.name = "qnn.concatenate",
     .doc = "Quantized tensors joined along the axis, each brought to the scale of the result in "
            "fixed point of 31 bits, with halves rounded up. An example is qnn.concatenate((%a, "
            "%b), (%a_scale, %b_scale), (%a_zero, %b_zero), %scale, %zero, axis=1).",
     .inputs = {{"data", "integers of the same dtype of up to 16 bits (tuple)"},
                {"input_scales", "constants (tuple)"},
                {"input_zero_points", "int32 (tuple)"},
                {"output_scale", "a constant"},
                {"output_zero_point", "int32"}},
     .attrs = {{"axis", AttrType::kInt, 0, false, "axis along which the tensors are joined"}},
     .tuple_input = true},
    {"there are as many scales and zero points as tensors", "data holds integers of up to 16 bits",
     "axis is an axis of the first tensor",
     "the tensors have the same dtype, and their shapes differ only along the axis",
     "scales are float32 or float64 constants of one element above 0",
     "zero points are int32 of one element",
     "the quotients of the inputs' scales and the result's scale are less than 2^30"},
    {.fusion = Fusion::kInjective, .layout = {LayoutRule::kAxis, "axis"}},
    InferQnnConcatenate,
    LowerQnnConcatenate,
    {Case(Two(Values(I8({2}), {-5, 7}), Values(I8({3}), {3, 4, 127}), 0.5, 1, 3), {},
          {Values(I8({5}), {-5, 7, 1, 3, 127})}),
     Case(Two(Values(U8({1, 2}), {4, 6}), Values(U8({1, 1}), {200}), 0.25, 0.25, 0), {{"axis", -1}},
          {Values(U8({1, 3}), {3, 4, 101})}),
     {.inputs = {I8({2, 3}), ScaleType(), I32({}), ScaleType(), I32({})},
      .values = {Tensor(), Scale(0.3), ZeroPoint(2), Scale(0.21), ZeroPoint(-4)}}},
};
KILN_REGISTER_OP(kQnnConcatenate);

}  // namespace
}  // namespace kiln
