// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

InferResult InferBiasAdd(const InferContext& c) {
  const TensorType &data = c.inputs[0], &bias = c.inputs[1];
  KILN_CONSTRAINT(1, IsNumeric(data.dtype) && bias.dtype == data.dtype,
                  absl::StrCat(data.dtype.ToString(), " and ", bias.dtype.ToString()),
                  "numbers of one dtype");
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
  const int64_t extent = data.shape[static_cast<size_t>(axis)];
  KILN_CONSTRAINT(3, bias.shape == Shape{extent},
                  absl::StrCat("bias of shape ", ShapeToString(bias.shape)),
                  ShapeToString(Shape{extent}));
  return OutputTypes({data});
}

absl::Status LowerBiasAdd(StageBuilder& b) {
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.input_shape(0).size());
  b.Output(0, [x = b.Input(0), bias = b.Input(1), axis](const Indices& i) {
    return x(i) + bias({i[axis]});
  });
  return absl::OkStatus();
}

const OpDef kBiasAdd = {
    {.name = "nn.bias_add",
     .doc = "data + bias[c], where c is the index along the axis.",
     .inputs = {{"data", "numbers of rank 1 or more"}, {"bias", "(extent of the axis,)"}},
     .attrs = {{"axis", AttrType::kInt, 1, false, "axis whose index selects the value of bias"}}},
    {"data and bias hold numbers of the same dtype", "axis is an axis of data",
     "bias has one value per index of the axis"},
    {.fusion = Fusion::kElementwise,
     .layout = {LayoutRule::kAxis, "axis"},
     .arithmetic = Arithmetic::kSum},
    InferBiasAdd,
    LowerBiasAdd,
    {Case({Values(F32({2, 2}), {1, 2, 3, 4}), Values(F32({2}), {10, 20})}, {},
          {Values(F32({2, 2}), {11, 22, 13, 24})}),
     Case({Values(I32({2, 2}), {1, 2, 3, 4}), Values(I32({2}), {10, 20})}, {{"axis", 0}},
          {Values(I32({2, 2}), {11, 12, 23, 24})}),
     {.inputs = {F32({1, 3, 3, 5}), F32({5})}, .attrs = {{"axis", -1}}},
     {.inputs = {F16({1, 3, 2}), F16({3})}}},
};
KILN_REGISTER_OP(kBiasAdd);

}  // namespace
}  // namespace kiln
