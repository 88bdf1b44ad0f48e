// SPDX-License-Identifier: Apache-2.0
// nn.leaky_relu and nn.prelu: x, or alpha * x if x is negative.
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

Expr Leak(const Expr& x, const Expr& alpha) {
  return loop::MakeSelect(x > loop::Const(x.type(), 0), x, x * alpha);
}

absl::Status LowerLeakyRelu(StageBuilder& b) {
  const double alpha = b.attrs().Float("alpha");
  b.Output(0, [=, x = b.Input(0)](const Indices& i) {
    const Expr value = x(i);
    return Leak(value, loop::Const(value.type(), alpha));
  });
  return absl::OkStatus();
}

const OpDef kLeakyRelu = {
    {.name = "nn.leaky_relu",
     .doc = "x if x > 0, else alpha * x.",
     .inputs = {{"data", "floats of any shape"}},
     .attrs = {{"alpha", AttrType::kFloat, 0.25, false, "slope below 0"}}},
    {"data holds floats"},
    {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
    InferFloat,
    LowerLeakyRelu,
    {Case({Values(F32({3}), {-2, 0, 3})}, {{"alpha", 0.5}}, {Values(F32({3}), {-1, 0, 3})}),
     {.inputs = {F32({2, 3})}},
     {.inputs = {F16({2, 3})}, .attrs = {{"alpha", 0.125}}}},
};
KILN_REGISTER_OP(kLeakyRelu);

InferResult InferPRelu(const InferContext& c) {
  const TensorType &data = c.inputs[0], &alpha = c.inputs[1];
  KILN_CONSTRAINT(1, data.dtype.is_float() && alpha.dtype == data.dtype,
                  absl::StrCat(data.dtype.ToString(), " and ", alpha.dtype.ToString()),
                  "floats of one dtype");
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
  const int64_t extent = data.shape[static_cast<size_t>(axis)];
  KILN_CONSTRAINT(3, alpha.shape == Shape{extent},
                  absl::StrCat("alpha of shape ", ShapeToString(alpha.shape)),
                  ShapeToString(Shape{extent}));
  return OutputTypes({data});
}

absl::Status LowerPRelu(StageBuilder& b) {
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.input_shape(0).size());
  b.Output(0, [x = b.Input(0), alpha = b.Input(1), axis](const Indices& i) {
    return Leak(x(i), alpha({i[axis]}));
  });
  return absl::OkStatus();
}

const OpDef kPRelu = {
    {.name = "nn.prelu",
     .doc = "x if x > 0, else alpha[c] * x, where c is the index along the axis.",
     .inputs = {{"data", "floats of rank 1 or more"}, {"alpha", "(extent of the axis,)"}},
     .attrs = {{"axis", AttrType::kInt, 1, false, "axis whose index selects the slope"}}},
    {"data and alpha hold floats of the same dtype", "axis is an axis of data",
     "alpha has one slope per index of the axis"},
    {.fusion = Fusion::kElementwise, .layout = {LayoutRule::kAxis, "axis"}},
    InferPRelu,
    LowerPRelu,
    {Case({Values(F32({2, 2}), {-2, -2, 3, -4}), Values(F32({2}), {0.5, 2})}, {},
          {Values(F32({2, 2}), {-1, -4, 3, -8})}),
     {.inputs = {F32({1, 2, 3}), F32({3})}, .attrs = {{"axis", -1}}},
     {.inputs = {F16({3, 2}), F16({3})}, .attrs = {{"axis", 0}}}},
};
KILN_REGISTER_OP(kPRelu);

}  // namespace
}  // namespace kiln
