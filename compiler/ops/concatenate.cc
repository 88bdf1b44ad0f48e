// SPDX-License-Identifier: Apache-2.0
// concatenate and stack.
#include "compiler/base/limits.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

absl::Status CheckDTypes(const InferContext& c) {
  KILN_CONSTRAINT(1, !c.inputs.empty(), "no tensors", "at least one");
  for (const TensorType& type : c.inputs) {
    KILN_CONSTRAINT(1, type.dtype == c.inputs[0].dtype,
                    absl::StrCat(type.dtype.ToString(), " beside ", c.inputs[0].dtype.ToString()),
                    "one dtype");
  }
  return absl::OkStatus();
}

InferResult InferConcatenate(const InferContext& c) {
  KILN_RETURN_IF_ERROR(CheckDTypes(c));
  Shape shape = c.inputs[0].shape;
  KILN_ASSIGN_OR_RETURN(const int normal,
                        NormalizeAxis(c.attrs.Int("axis"), c.inputs[0].rank(), 2));
  const size_t axis = static_cast<size_t>(normal);
  shape[axis] = 0;
  for (const TensorType& type : c.inputs) {
    Shape others = type.shape;
    if (axis < others.size()) {
      shape[axis] += others[axis];
      others[axis] = shape[axis];
    }
    KILN_CONSTRAINT(
        3, others == shape,
        absl::StrCat(ShapeToString(type.shape), " beside ", ShapeToString(c.inputs[0].shape)),
        "shapes that differ along the axis only");
    KILN_CONSTRAINT(4, shape[axis] <= kMaxTensorElements, absl::StrCat("extent ", shape[axis]),
                    "a tensor within the limits");
  }
  return OutputTypes({{std::move(shape), c.inputs[0].dtype}});
}

// Selects from the last input to the first: input k is read if the index along
// the axis is below its end.
absl::Status LowerConcatenate(StageBuilder& b) {
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.output_shape(0).size());
  b.Output(0, [&](const Indices& i) {
    Expr value;
    int64_t end = b.output_shape(0)[axis];
    for (int k = b.num_inputs() - 1; k >= 0; --k) {
      const int64_t extent = b.input_shape(k)[axis], begin = end - extent;
      if (extent == 0) continue;
      Indices at = i;
      if (b.num_inputs() > 1) at[axis] = ClampIndex(i[axis] - Expr(begin), extent);
      const Expr own = b.Input(k)(at);
      value = value ? loop::MakeSelect(i[axis] < Expr(end), own, value) : own;
      end = begin;
    }
    return value ? value : loop::Const(ComputeType(b.output_dtype(0)), 0);
  });
  return absl::OkStatus();
}

const OpDef kConcatenate = {
    {.name = "concatenate",
     .doc = "The tensors joined along the axis, in order.",
     .inputs = {{"data", "tensors of the same dtype, which may be any"}},
     .attrs = {{"axis", AttrType::kInt, 0, false, "axis along which the tensors are joined"}},
     .tuple_input = true},
    {"the tensors have the same dtype", "axis is an axis of the first tensor",
     "their shapes differ only along the axis", "the result is a tensor within the limits"},
    {.fusion = Fusion::kInjective,
     .layout = {LayoutRule::kAxis, "axis"},
     .origin = Origin::kMoved,
     .parts = Parts::kConcatenated},
    InferConcatenate,
    LowerConcatenate,
    {Case({Values(F32({2, 1}), {1, 2}), Values(F32({2, 2}), {3, 4, 5, 6})}, {{"axis", 1}},
          {Values(F32({2, 3}), {1, 3, 4, 2, 5, 6})}),
     Case({Values(I32({1}), {1}), Values(I32({0}), {}), Values(I32({2}), {3, 4})}, {},
          {Values(I32({3}), {1, 3, 4})}),
     {.inputs = {F32({1, 3, 3, 4}), F32({1, 3, 3, 5}), F32({1, 3, 3, 1})}, .attrs = {{"axis", -1}}},
     {.inputs = {F16({2, 3})}}},
};
KILN_REGISTER_OP(kConcatenate);

InferResult InferStack(const InferContext& c) {
  KILN_RETURN_IF_ERROR(CheckDTypes(c));
  Shape shape = c.inputs[0].shape;
  for (const TensorType& type : c.inputs) {
    KILN_CONSTRAINT(3, type.shape == shape,
                    absl::StrCat(ShapeToString(type.shape), " beside ", ShapeToString(shape)),
                    "one shape");
  }
  KILN_ASSIGN_OR_RETURN(const int axis,
                        NormalizeAxis(c.attrs.Int("axis"), c.inputs[0].rank() + 1, 2));
  shape.insert(shape.begin() + axis, static_cast<int64_t>(c.inputs.size()));
  return OutputTypes({{std::move(shape), c.inputs[0].dtype}});
}

absl::Status LowerStack(StageBuilder& b) {
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.output_shape(0).size());
  b.Output(0, [&](const Indices& i) {
    Indices at = i;
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
    Expr value = b.Input(b.num_inputs() - 1)(at);
    for (int k = b.num_inputs() - 2; k >= 0; --k) {
      value = loop::MakeSelect(i[axis] < Expr(k + 1), b.Input(k)(at), value);
    }
    return value;
  });
  return absl::OkStatus();
}

const OpDef kStack = {
    {.name = "stack",
     .doc = "The tensors joined along a new axis.",
     .inputs = {{"data", "tensors of the same type"}},
     .attrs = {{"axis", AttrType::kInt, 0, false, "axis of the result that numbers the tensors"}},
     .tuple_input = true},
    {"the tensors have the same dtype", "axis is an axis of the result",
     "the tensors have the same shape"},
    {.fusion = Fusion::kInjective,
     .layout = LayoutRule::kFixed,
     .origin = Origin::kMoved,
     .parts = Parts::kStacked},
    InferStack,
    LowerStack,
    {Case({Values(F32({2}), {1, 2}), Values(F32({2}), {3, 4})}, {{"axis", 1}},
          {Values(F32({2, 2}), {1, 3, 2, 4})}),
     Case({Values(I32({}), {1}), Values(I32({}), {2}), Values(I32({}), {3})}, {},
          {Values(I32({3}), {1, 2, 3})}),
     {.inputs = {F16({2, 3}), F16({2, 3})}, .attrs = {{"axis", -2}}}},
};
KILN_REGISTER_OP(kStack);

}  // namespace
}  // namespace kiln
