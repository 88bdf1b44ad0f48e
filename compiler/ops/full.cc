// SPDX-License-Identifier: Apache-2.0
// Operators that create tensors: full, zeros, ones, arange, one_hot.
#include <cmath>

#include "compiler/base/limits.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

absl::Status CheckShape(const std::vector<int64_t>& shape, int constraint) {
  for (int64_t extent : shape) {
    KILN_CONSTRAINT(constraint, extent >= 0, absl::StrCat("shape ", ShapeToString(shape)),
                    "no negative extent");
  }
  return absl::OkStatus();
}

InferResult InferFull(const InferContext& c) {
  KILN_CONSTRAINT(1, c.inputs[0].num_elements() == 1, c.inputs[0].ToString(), "one value");
  KILN_RETURN_IF_ERROR(CheckShape(c.attrs.Ints("shape"), 2));
  return OutputTypes({{c.attrs.Ints("shape"), c.attrs.DTypeOr("dtype", c.inputs[0].dtype)}});
}

absl::Status LowerFull(StageBuilder& b) {
  const Indices zero(b.input_shape(0).size(), Expr(0));
  b.Output(0, [&](const Indices&) { return b.Input(0)(zero); });
  return absl::OkStatus();
}

InferResult InferFilled(const InferContext& c) {
  KILN_RETURN_IF_ERROR(CheckShape(c.attrs.Ints("shape"), 1));
  return OutputTypes({{c.attrs.Ints("shape"), c.attrs.DTypeOr("dtype", DType::Float(32))}});
}

template <int kValue>
absl::Status LowerFilled(StageBuilder& b) {
  b.Output(0, [type = ComputeType(b.output_dtype(0))](const Indices&) {
    return loop::Const(type, kValue);
  });
  return absl::OkStatus();
}

OpDef Filled(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
             double value) {
  return {
      {.name = std::move(name),
       .doc = std::move(doc),
       .attrs = {{"shape", AttrType::kInts, {}, true, "shape of the result"},
                 {"dtype", AttrType::kDType, "", false, "dtype of the result; float32 if \"\""}}},
      {"shape has no negative extent"},
      {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
      InferFilled,
      lower,
      {Case({}, {{"shape", List({2})}, {"dtype", "float32"}}, {Values(F32({2}), {value, value})}),
       Case({}, {{"shape", List({})}, {"dtype", "int8"}}, {Values(I8({}), {value})}),
       {.attrs = {{"shape", List({2, 3})}, {"dtype", "bool"}}}}};
}

// Returns ceil((stop - start) / step), at least 0; InvalidArgument if that is no valid extent.
absl::StatusOr<int64_t> ArangeExtent(const InferContext& c) {
  double values[3];
  for (int k = 0; k < 3; ++k) {
    const size_t at = static_cast<size_t>(k);
    const Tensor* value = at < c.constants.size() ? c.constants[at] : nullptr;
    KILN_CONSTRAINT(1, value != nullptr, absl::StrCat("input ", k, " that is computed"),
                    "a constant");
    KILN_CONSTRAINT(2, value->type().num_elements() == 1, value->type().ToString(), "one value");
    values[k] = value->AsDouble(0);
  }
  KILN_CONSTRAINT(3, values[2] != 0, "step 0", "another");
  const double extent = std::ceil((values[1] - values[0]) / values[2]);
  KILN_CONSTRAINT(4, extent <= static_cast<double>(kMaxTensorElements),
                  absl::StrCat(extent, " elements"), "a tensor within the limits");
  return extent > 0 ? static_cast<int64_t>(extent) : 0;
}

InferResult InferArange(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const int64_t extent, ArangeExtent(c));
  const DType dtype = c.attrs.DTypeOr("dtype", c.inputs[0].dtype);
  KILN_CONSTRAINT(5, IsNumeric(dtype), dtype.ToString(), "numbers");
  return OutputTypes({{{extent}, dtype}});
}

absl::Status LowerArange(StageBuilder& b) {
  const DType dtype = ComputeType(b.output_dtype(0));
  const auto scalar = [&](int k) {
    const Indices zero(b.input_shape(k).size(), Expr(0));
    const Expr value = b.Input(k)(zero);
    return value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
  };
  b.Output(0,
           [&](const Indices& i) { return scalar(0) + loop::MakeCast(dtype, i[0]) * scalar(2); });
  return absl::OkStatus();
}

InferResult InferOneHot(const InferContext& c) {
  const TensorType &indices = c.inputs[0], &on = c.inputs[1], &off = c.inputs[2];
  KILN_CONSTRAINT(1, indices.dtype.is_integral(), indices.dtype.ToString(),
                  "indices that are integers");
  KILN_CONSTRAINT(2, on.num_elements() == 1 && off.num_elements() == 1,
                  absl::StrCat(on.ToString(), " and ", off.ToString()), "one value each");
  const int64_t depth = c.attrs.Int("depth");
  KILN_CONSTRAINT(3, depth >= 0, absl::StrCat("depth ", depth), "a number that is not negative");
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), indices.rank() + 1, 4));
  Shape shape = indices.shape;
  shape.insert(shape.begin() + axis, depth);
  return OutputTypes({{std::move(shape), c.attrs.DTypeOr("dtype", on.dtype)}});
}

absl::Status LowerOneHot(StageBuilder& b) {
  const DType dtype = ComputeType(b.output_dtype(0));
  const auto scalar = [&](int k) {
    const Expr value = b.Input(k)(Indices(b.input_shape(k).size(), Expr(0)));
    return value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
  };
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.output_shape(0).size());
  b.Output(0, [&](const Indices& i) {
    Indices at = i;
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
    return loop::MakeSelect(loop::ToIndex(b.Input(0)(at)) == i[axis], scalar(1), scalar(2));
  });
  return absl::OkStatus();
}

const OpDef kFulls[] = {
    {{.name = "full",
      .doc = "A tensor of the given shape, filled with fill_value, which is cast to the dtype.",
      .inputs = {{"fill_value", "one value"}},
      .attrs = {{"shape", AttrType::kInts, {}, true, "shape of the result"},
                {"dtype", AttrType::kDType, "", false,
                 "dtype of the result; that of fill_value if \"\""}}},
     {"fill_value has one element", "shape has no negative extent"},
     {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
     InferFull,
     LowerFull,
     {Case({Values(F32({}), {2.5})}, {{"shape", List({2})}}, {Values(F32({2}), {2.5, 2.5})}),
      Case({Values(F32({}), {2.5})}, {{"shape", List({1, 2})}, {"dtype", "int32"}},
           {Values(I32({1, 2}), {2, 2})}),
      {.inputs = {F16({1})}, .attrs = {{"shape", List({2, 3})}}}}},
    Filled("zeros", "Zeros of the given shape.", LowerFilled<0>, 0),
    Filled("ones", "Ones of the given shape.", LowerFilled<1>, 1),
    {{.name = "arange",
      .doc = "start, start + step, … up to stop, which is left out.",
      .inputs = {{"start", "a constant"}, {"stop", "a constant"}, {"step", "a constant"}},
      .attrs = {{"start", AttrType::kReference, {}, false, "the input of this name; not read"},
                {"stop", AttrType::kReference, {}, false, "the input of this name; not read"},
                {"step", AttrType::kReference, {}, false, "the input of this name; not read"},
                {"dtype", AttrType::kDType, "", false,
                 "dtype of the result; that of start if \"\""}}},
     {"start, stop and step are constants", "they have one element each", "step is not 0",
      "the result is a tensor within the limits", "dtype is a number type"},
     {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
     InferArange,
     LowerArange,
     {Case({Values(I32({}), {2}), Values(I32({}), {7}), Values(I32({}), {2})}, {},
           {Values(I32({3}), {2, 4, 6})}),
      Case({Values(F32({}), {1}), Values(F32({}), {-1}), Values(F32({}), {-0.5})},
           {{"dtype", "float32"}}, {Values(F32({4}), {1, 0.5, 0, -0.5})}),
      Case({Values(I64({}), {2}), Values(I64({}), {1}), Values(I64({}), {1})}, {},
           {Values(I64({0}), {})})}},
    {{.name = "one_hot",
      .doc = "on_value where the index along a new axis equals the given index, and off_value "
             "elsewhere. An index out of range gives off_value everywhere.",
      .inputs = {{"indices", "integers"}, {"on_value", "one value"}, {"off_value", "one value"}},
      .attrs = {{"depth", AttrType::kInt, 1, false, "extent of the new axis"},
                {"axis", AttrType::kInt, -1, false, "position of the new axis in the result"},
                {"dtype", AttrType::kDType, "", false,
                 "dtype of the result; that of on_value if \"\""}}},
     {"indices are integers", "on_value and off_value have one element each",
      "depth is not negative", "axis is an axis of the result"},
     {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
     InferOneHot,
     LowerOneHot,
     {Case({Values(I32({3}), {1, 0, 5}), Values(F32({}), {1}), Values(F32({}), {0})},
           {{"depth", 2}}, {Values(F32({3, 2}), {0, 1, 1, 0, 0, 0})}),
      Case({Values(I64({2}), {0, -1}), Values(F32({}), {7}), Values(F32({}), {-7})},
           {{"depth", 2}, {"axis", 0}, {"dtype", "int8"}}, {Values(I8({2, 2}), {7, -7, -7, -7})}),
      Case({Values(I32({3}), {1, 0, 5}), Values(F32({}), {1}), Values(F32({}), {0})},
           {{"depth", 0}}, {Values(F32({3, 0}), {})}),
      {.inputs = {U8({2, 2}), F16({}), F16({})},
       .attrs = {{"depth", 4}, {"axis", 1}},
       .input_min = 0,
       .input_max = 1}}},
};
KILN_REGISTER_OPS(kFulls);

}  // namespace
}  // namespace kiln
