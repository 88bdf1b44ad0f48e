// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 20;

InferResult InferLrn(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, data.dtype.is_float(), data.dtype.ToString(), "floats");
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
  const int64_t size = c.attrs.Int("size");
  KILN_CONSTRAINT(3, size >= 1 && size <= kMaxSize && size % 2 == 1, absl::StrCat("size ", size),
                  absl::StrCat("an odd number up to ", kMaxSize));
  TensorType padded = data;
  padded.shape[static_cast<size_t>(axis)] += size - 1;
  KILN_CONSTRAINT(4, CheckTensorType(padded).ok(),
                  absl::StrCat("padded data of shape ", ShapeToString(padded.shape)),
                  "a tensor within the limits");
  return OutputTypes({data});
}

absl::Status LowerLrn(StageBuilder& b) {
  const Shape& shape = b.input_shape(0);
  const size_t axis = AxisOf(b.attrs().Int("axis"), shape.size());
  const int64_t size = b.attrs().Int("size"), half = size / 2;
  const Access x = b.Input(0);
  const DType dtype = ComputeType(b.input_dtype(0));
  const auto constant = [&](const char* name) { return loop::Const(dtype, b.attrs().Float(name)); };
  const Expr bias = constant("bias"), beta = constant("beta");
  const Expr slope = loop::Const(dtype, b.attrs().Float("alpha") / static_cast<double>(size));

  Shape padded_shape = shape;
  padded_shape[axis] += size - 1;
  const Access padded = b.Compute("pad", padded_shape, [&](const Indices& i) {
    Indices at = i;
    at[axis] = i[axis] - Expr(half);
    const Expr in_bounds = i[axis] >= Expr(half) && i[axis] < Expr(half + shape[axis]);
    return GuardedValue(x, shape, at, in_bounds, loop::Const(dtype, 0));
  });
  const Access squares = b.Reduce("squares", shape, {size}, loop::Combine::kSum,
                                  [&](const Indices& i, const Indices& r) {
                                    Indices at = i;
                                    at[axis] = i[axis] + r[0];
                                    const Expr value = padded(at);
                                    return value * value;
                                  });
  b.Output(0, [=](const Indices& i) { return x(i) / loop::Pow(bias + slope * squares(i), beta); });
  return absl::OkStatus();
}

const OpDef kLrn = {
    {.name = "nn.lrn",
     .doc = "Local response normalization: data / (bias + alpha / size * sum of squares)^beta. The "
            "sum runs over size positions along the axis, centered at each element.",
     .inputs = {{"data", "floats"}},
     .attrs = {{"size", AttrType::kInt, 5, false, "number of positions in the sum"},
               {"axis", AttrType::kInt, 1, false, "axis of the sum"},
               {"bias", AttrType::kFloat, 2.0, false, "number added to the scaled sum"},
               {"alpha", AttrType::kFloat, 0.0001, false, "factor of the sum"},
               {"beta", AttrType::kFloat, 0.75, false, "exponent of the divisor"}}},
    {"data holds floats", "axis is an axis of data", "size is odd",
     "the padded data is a tensor within the limits"},
    {.fusion = Fusion::kReduction, .layout = {LayoutRule::kAxis, "axis"}},
    InferLrn,
    LowerLrn,
    {Case({Values(F32({1, 3}), {1, 2, 3})},
          {{"size", 3}, {"bias", 1.0}, {"alpha", 3.0}, {"beta", 1.0}},
          {Values(F32({1, 3}), {1.0 / 6, 2.0 / 15, 3.0 / 14})}, 1e-6),
     {.inputs = {F32({1, 7, 3, 3})}},
     {.inputs = {F32({1, 3, 3, 7})}, .attrs = {{"axis", -1}, {"alpha", 0.1}}}},
};
KILN_REGISTER_OP(kLrn);

}  // namespace
}  // namespace kiln
