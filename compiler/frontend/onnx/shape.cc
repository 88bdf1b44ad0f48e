// SPDX-License-Identifier: Apache-2.0
// Data movement and computation with shapes. Values that depend only on shapes become constants, as
// the importer folds them.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/known_indices.h"
#include "compiler/frontend/onnx/pieces.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

absl::Status Constant(Converter& c) {
  if (c.HasAttr("value")) {
    KILN_ASSIGN_OR_RETURN(Tensor value, c.TensorAttr("value"));
    return c.Output(0, c.Constant(std::move(value)));
  }
  Tensor value;
  if (const auto* attr = c.FindAttr("value_float")) {
    value = Tensor::Scalar(DType::Float(32), attr->f());
  } else if (const auto* ints = c.FindAttr("value_ints")) {
    const std::vector<int64_t> values(ints->ints().begin(), ints->ints().end());
    value = Tensor::From<int64_t>({static_cast<int64_t>(values.size())}, DType::Int(64), values);
  } else if (const auto* integer = c.FindAttr("value_int")) {
    value = Tensor::From<int64_t>({}, DType::Int(64), {integer->i()});
  } else if (const auto* floats = c.FindAttr("value_floats")) {
    const std::vector<float> values(floats->floats().begin(), floats->floats().end());
    value = Tensor::From<float>({static_cast<int64_t>(values.size())}, DType::Float(32), values);
  } else {
    return absl::UnimplementedError("a constant that is no dense tensor of numbers");
  }
  return c.Output(0, c.Constant(std::move(value)));
}

// Larger tensors of a single value are filled by the compiled model.
constexpr int64_t kMaxFilled = 1 << 22;

absl::Status ConstantOfShape(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const Tensor shape, c.ConstantInput(0, "the shape"));
  TensorType type{shape.ToInts(), DType::Float(32)};
  Tensor value = Tensor::Scalar(type.dtype, 0);
  if (c.HasAttr("value")) {
    KILN_ASSIGN_OR_RETURN(const Tensor tensor, c.TensorAttr("value"));
    KILN_ASSIGN_OR_RETURN(value, AsScalar(tensor, "value"));
    type.dtype = value.type().dtype;
  }
  KILN_RETURN_IF_ERROR(CheckTensorType(type));
  if (type.num_elements() > kMaxFilled) {
    return c.Output(0, c.Op("broadcast_to", {c.Constant(std::move(value))},
                            {{"shape", AttrValue::Ints(type.shape)}}));
  }
  std::string bytes;
  for (int64_t i = 0; i < type.num_elements(); ++i) bytes += value.bytes();
  return c.Output(0, c.Constant(Tensor(std::move(type), std::move(bytes))));
}

absl::Status ShapeOf(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const Shape& shape = c.type(x).shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  const auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t begin = clamp(c.Int("start", 0)), end = std::max(clamp(c.Int("end", rank)), begin);
  return c.Output(0, c.Constant(Tensor::From<int64_t>(
                         {end - begin}, DType::Int(64),
                         {shape.data() + begin, static_cast<size_t>(end - begin)})));
}

absl::Status Size(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(
      0, c.Constant(Tensor::From<int64_t>({}, DType::Int(64), {c.type(x).num_elements()})));
}

absl::Status Reshape(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::optional<std::vector<int64_t>> shape,
                        c.IntsAttrOrInput("shape", 1));
  if (!shape.has_value()) return Wrong("inputs", "no shape", "one");
  return c.Output(
      0, c.Op("reshape", {x},
              {{"newshape", AttrValue::Ints(*shape)}, {"allowzero", c.Int("allowzero", 0) != 0}}));
}

absl::Status Flatten(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const Shape shape = c.type(x).shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  int64_t axis = c.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank)
    return Wrong("axis", absl::StrCat(axis), absl::StrCat("0 to ", rank));
  const int64_t outer = NumElements({shape.data(), static_cast<size_t>(axis)});
  const int64_t inner = NumElements({shape.data() + axis, static_cast<size_t>(rank - axis)});
  return c.Output(0, c.Reshape(x, {outer, inner}));
}

absl::Status Squeeze(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::optional<std::vector<int64_t>> axes,
                        c.IntsAttrOrInput("axes", 1));
  Attrs attrs;
  if (axes.has_value()) attrs.Set("axis", AttrValue::Ints(*axes));
  return c.Output(0, c.Op("squeeze", {x}, attrs));
}

absl::Status Unsqueeze(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::optional<std::vector<int64_t>> axes,
                        c.IntsAttrOrInput("axes", 1));
  if (!axes.has_value()) return Wrong("inputs", "no axes", "one or more");
  const int rank = c.type(x).rank() + static_cast<int>(axes->size());
  std::vector<bool> is_new(static_cast<size_t>(rank), false);
  for (int64_t axis : *axes) {
    KILN_ASSIGN_OR_RETURN(axis, NormalAxis(axis, rank));
    if (is_new[static_cast<size_t>(axis)])
      return Wrong("axes", absl::StrCat(axis, " twice"), "each once");
    is_new[static_cast<size_t>(axis)] = true;
  }
  Shape shape;
  size_t next = 0;
  for (bool one : is_new) shape.push_back(one ? 1 : c.type(x).shape[next++]);
  return c.Output(0, c.Reshape(x, shape));
}

absl::Status Transpose(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  std::vector<int64_t> axes;
  for (int i = c.type(x).rank() - 1; i >= 0; --i) axes.push_back(i);
  return c.Output(0, c.Op("transpose", {x}, {{"axes", AttrValue::Ints(c.Ints("perm", axes))}}));
}

absl::Status Concat(Converter& c) {
  std::vector<ValueId> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(i));
    // Empty pieces, which arithmetic on shapes produces, are skipped.
    if (c.type(x).rank() != 1 || c.type(x).num_elements() > 0) inputs.push_back(x);
  }
  if (inputs.empty()) {
    KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
    inputs.push_back(x);
  }
  if (!c.HasAttr("axis") && c.opset() >= 4) return Wrong("attribute axis", "none", "one");
  ValueId y = inputs[0];
  if (inputs.size() > 1) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("concatenate", inputs, {{"axis", c.Int("axis", 1)}}));
  }
  return c.Output(0, y);
}

absl::Status Split(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", 0), c.type(x).rank()));
  KILN_ASSIGN_OR_RETURN(std::optional<std::vector<int64_t>> sizes, c.IntsAttrOrInput("split", 1));
  const int64_t extent = c.type(x).shape[static_cast<size_t>(axis)];
  const int64_t parts = c.node().output_size();
  if (!sizes.has_value()) {
    const int64_t size = (extent + parts - 1) / parts;
    sizes.emplace(static_cast<size_t>(parts), size);
    sizes->back() = extent - size * (parts - 1);
  }
  int64_t sum = 0;
  for (int64_t size : *sizes) sum += size;
  if (static_cast<int64_t>(sizes->size()) != parts || sum != extent) {
    return Wrong("split", AttrValue::Ints(*sizes).ToString(),
                 absl::StrCat(parts, " sizes that add up to ", extent));
  }
  if (parts == 1) {
    c.SetOutput(0, x);
    return absl::OkStatus();
  }
  std::vector<int64_t> indices;
  int64_t begin = 0;
  for (size_t i = 0; i + 1 < sizes->size(); ++i) indices.push_back(begin += (*sizes)[i]);
  KILN_ASSIGN_OR_RETURN(
      const std::vector<ValueId> y,
      c.TupleOp("split", {x}, {{"indices_or_sections", AttrValue::Ints(indices)}, {"axis", axis}}));
  for (size_t i = 0; i < y.size(); ++i) c.SetOutput(static_cast<int>(i), y[i]);
  return absl::OkStatus();
}

absl::Status Slice(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const auto begin, c.IntsAttrOrInput("starts", 1));
  KILN_ASSIGN_OR_RETURN(const auto end, c.IntsAttrOrInput("ends", 2));
  KILN_ASSIGN_OR_RETURN(const auto axes, c.IntsAttrOrInput("axes", 3));
  KILN_ASSIGN_OR_RETURN(const auto steps, c.IntsAttrOrInput("steps", 4));
  if (!begin.has_value() || !end.has_value()) return Wrong("inputs", "no starts or ends", "both");
  Attrs attrs = {
      {"begin", AttrValue::Ints(*begin)},
      {"end", AttrValue::Ints(*end)},
      {"strides",
       AttrValue::Ints(steps.has_value() ? *steps : std::vector<int64_t>(begin->size(), 1))}};
  if (axes.has_value()) attrs.Set("axes", AttrValue::Ints(*axes));
  return c.Output(0, c.Op("strided_slice", {x}, attrs));
}

// Negative indices count from the end. Known indices out of range are an error, unless they select
// nothing (kIsNothing).
enum class Outside { kIsWrong, kIsNothing };
absl::StatusOr<ValueId> Wrapped(Converter& c, ValueId indices, int64_t extent,
                                Outside outside = Outside::kIsWrong) {
  const Value& value = c.graph().value(indices);
  if (value.kind == ValueKind::kConstant) {
    if (outside == Outside::kIsWrong) {
      KILN_RETURN_IF_ERROR(CheckKnownIndices(c, indices, {extent}));
    }
    std::vector<int64_t> ints = value.constant.ToInts();
    for (int64_t& i : ints) {
      if (i < 0 && i >= -extent) i += extent;
    }
    return c.Constant(Tensor::From<int64_t>(value.constant.type().shape, DType::Int(64), ints));
  }
  const DType dtype = c.type(indices).dtype;
  KILN_ASSIGN_OR_RETURN(const ValueId negative,
                        c.Op("less", {indices, c.Constant(Tensor::Scalar(dtype, 0))}));
  KILN_ASSIGN_OR_RETURN(
      const ValueId from_end,
      c.Op("add", {indices, c.Constant(Tensor::Scalar(dtype, static_cast<double>(extent)))}));
  return c.Op("where", {negative, from_end, indices});
}

absl::Status Gather(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId indices, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", 0), c.type(x).rank()));
  KILN_ASSIGN_OR_RETURN(indices, Wrapped(c, indices, c.type(x).shape[static_cast<size_t>(axis)]));
  return c.Output(0, c.Op("take", {x, indices}, {{"axis", axis}}));
}

absl::Status GatherNd(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const Shape shape = c.type(x).shape;
  const int64_t batch = c.Int("batch_dims", 0);
  absl::Span<const int64_t> extents = shape;
  // The operator itself refuses other numbers of dimensions.
  extents.remove_prefix(
      static_cast<size_t>(std::clamp<int64_t>(batch, 0, static_cast<int64_t>(shape.size()))));
  KILN_ASSIGN_OR_RETURN(const ValueId places, IndicesOfPlaces(c, extents));
  return c.Output(0, c.Op("gather_nd", {x, places}, {{"batch_dims", batch}}));
}

absl::Status GatherElements(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId indices, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", 0), c.type(x).rank()));
  KILN_RETURN_IF_ERROR(CheckKnownIndices(c, indices, {c.type(x).shape[static_cast<size_t>(axis)]}));
  return c.Output(0, c.Op("gather", {x, indices}, {{"axis", axis}}));
}

absl::Status Expand(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const Tensor wanted, c.ConstantInput(1, "the shape"));
  Shape shape = wanted.ToInts();
  const Shape& from = c.type(x).shape;
  while (shape.size() < from.size()) shape.insert(shape.begin(), 1);
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t& extent = shape[shape.size() - from.size() + i];
    if (extent == 1) extent = from[i];
  }
  ValueId y = x;
  if (shape != from) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("broadcast_to", {x}, {{"shape", AttrValue::Ints(shape)}}));
  }
  return c.Output(0, y);
}

absl::Status Tile(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  if (c.opset() < 6) return absl::UnimplementedError("the form of opsets below 6");
  KILN_ASSIGN_OR_RETURN(const Tensor reps, c.ConstantInput(1, "repeats"));
  return c.Output(0, c.Op("tile", {x}, {{"reps", AttrValue::Ints(reps.ToInts())}}));
}

absl::Status Range(Converter& c) {
  const char* const names[] = {"start", "limit", "delta"};
  double numbers[3];
  std::vector<ValueId> bounds;
  for (int i = 0; i < 3; ++i) {
    KILN_ASSIGN_OR_RETURN(Tensor bound, c.ConstantInput(i, names[i]));
    if (bound.type().num_elements() != 1) {
      return Wrong("a bound", bound.type().ToString(), "a scalar");
    }
    numbers[i] = bound.AsDouble(0);
    bounds.push_back(c.Constant(std::move(bound)));
  }
  const auto [start, limit, delta] = numbers;
  if (delta == 0) return Wrong("delta", "0", "another number");
  const double count = std::max((limit - start) / delta, 0.0);
  if (!(count < 1e8)) return Wrong("the range", absl::StrCat(count, " values"), "fewer than 1e8");
  const std::string dtype = c.type(bounds[0]).dtype.ToString();
  return c.Output(0, c.Op("arange", bounds, {{"dtype", dtype}}));
}

absl::Status OneHot(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId indices, c.Input(0));
  if (c.type(indices).dtype.is_float()) {
    KILN_ASSIGN_OR_RETURN(indices, c.Op("cast", {indices}, {{"dtype", "int64"}}));
  }
  KILN_ASSIGN_OR_RETURN(const Tensor depth, c.ConstantInput(1, "depth"));
  KILN_ASSIGN_OR_RETURN(const Tensor values, c.ConstantInput(2, "values"));
  if (depth.type().num_elements() != 1 || values.type().num_elements() != 2) {
    return Wrong("depth and values", depth.type().ToString() + " and " + values.type().ToString(),
                 "1 and 2 elements");
  }
  KILN_ASSIGN_OR_RETURN(const ValueId wrapped,
                        Wrapped(c, indices, depth.AsInt(0), Outside::kIsNothing));
  const DType dtype = values.type().dtype;
  const auto bytes = static_cast<size_t>(dtype.bytes());
  const auto element = [&](size_t i) {
    return Tensor({{}, dtype}, values.bytes().substr(i * bytes, bytes));
  };
  return c.Output(
      0,
      c.Op("one_hot", {wrapped, c.Constant(element(1)), c.Constant(element(0))},
           {{"depth", depth.AsInt(0)}, {"axis", c.Int("axis", -1)}, {"dtype", dtype.ToString()}}));
}

constexpr OnnxOperator kShapeRows[] = {
    {"Concat", Concat},
    {"Constant", Constant},
    {"ConstantOfShape", ConstantOfShape},
    {"Expand", Expand},
    {"Flatten", Flatten},
    {"Gather", Gather},
    {"GatherElements", GatherElements},
    {"GatherND", GatherNd},
    {"OneHot", OneHot},
    {"Range", Range},
    {"Reshape", Reshape},
    {"Shape", ShapeOf},
    {"Size", Size},
    {"Slice", Slice},
    {"Split", Split},
    {"Squeeze", Squeeze},
    {"Tile", Tile},
    {"Transpose", Transpose},
    {"Unsqueeze", Unsqueeze},
};

}  // namespace

absl::Span<const OnnxOperator> ShapeOperators() { return kShapeRows; }

}  // namespace kiln::onnx_frontend
