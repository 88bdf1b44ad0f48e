// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/stage_builder.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln {

using loop::Axis;
using loop::Buffer;
using loop::BufferScope;
using loop::Combine;
using loop::Stage;

namespace {

std::vector<Axis> MakeAxes(absl::string_view prefix, const Shape& extents) {
  std::vector<Axis> axes;
  for (size_t d = 0; d < extents.size(); ++d) {
    axes.push_back({loop::MakeVar(absl::StrCat(prefix, d)), extents[d]});
  }
  return axes;
}

Indices VarsOf(const std::vector<Axis>& axes) {
  Indices vars;
  for (const Axis& axis : axes) vars.push_back(axis.var);
  return vars;
}

// Values of other dtypes are converted to float32 before float16.
Expr CastTo(DType dtype, Expr value) {
  if (value.type().dtype == dtype && !value.type().index) return value;
  if (dtype == DType::Float(16)) value = loop::MakeCast(DType::Float(32), value);
  return loop::MakeCast(dtype, value);
}

// Access to the one element of `tensor`, as a literal.
Access Literal(const Tensor& tensor) {
  const loop::Type type = loop::Type::Of(ComputeType(tensor.type().dtype));
  const Expr literal = tensor.type().dtype.is_float() ? loop::FloatConst(type, tensor.AsDouble(0))
                                                      : loop::IntConst(type, tensor.AsInt(0));
  return [literal](const Indices&) { return literal; };
}

}  // namespace

StageBuilder::StageBuilder(std::string name, const Attrs& attrs, std::vector<Buffer> inputs,
                           std::vector<Buffer> outputs, std::vector<const Tensor*> constants)
    : name_(std::move(name)),
      attrs_(attrs),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      constants_(std::move(constants)) {
  constants_.resize(inputs_.size());
}

Access StageBuilder::Input(int k) const {
  if (const Tensor* tensor = constant(k); tensor != nullptr && tensor->type().num_elements() == 1) {
    return Literal(*tensor);
  }
  return [buffer = inputs_[static_cast<size_t>(k)]](const Indices& i) {
    const Expr value = loop::MakeLoad(buffer, i);
    return buffer->dtype == ComputeType(buffer->dtype)
               ? value
               : loop::MakeCast(ComputeType(buffer->dtype), value);
  };
}

Access StageBuilder::Table(std::string name, Tensor tensor) {
  if (tensor.type().num_elements() == 1) return Literal(tensor);
  const Buffer buffer = loop::MakeBuffer(absl::StrCat(name_, "_", name), tensor.type().dtype,
                                         tensor.type().shape, BufferScope::kConstant);
  result_.constants.push_back({buffer, std::move(tensor)});
  return [buffer](const Indices& i) { return loop::MakeLoad(buffer, i); };
}

bool StageBuilder::IsWithin(int k, int64_t least, int64_t largest) const {
  const Tensor* const values = constant(k);
  if (values == nullptr) return false;
  for (int64_t i = 0; i < values->type().num_elements(); ++i) {
    const int64_t value = values->AsInt(i);
    if (value < least || value > largest) return false;
  }
  return true;
}

Access StageBuilder::Compute(std::string name, Shape shape,
                             const std::function<Expr(const Indices&)>& value) {
  return Reduce(std::move(name), std::move(shape), {}, Combine::kNone,
                [&](const Indices& i, const Indices&) { return value(i); });
}

Access StageBuilder::Reduce(std::string name, Shape shape, Shape extents, Combine combine,
                            const std::function<Expr(const Indices&, const Indices&)>& term) {
  Shape axes = shape;
  return ReduceInto(
      std::move(name), std::move(shape), std::move(axes), [](const Indices& i) { return i; },
      std::move(extents), combine, term);
}

Access StageBuilder::ReduceInto(std::string name, Shape shape, Shape axes,
                                const std::function<Indices(const Indices&)>& index, Shape extents,
                                Combine combine,
                                const std::function<Expr(const Indices&, const Indices&)>& term) {
  Stage stage;
  stage.axes = MakeAxes("i", axes);
  stage.reduce = MakeAxes("r", extents);
  const Indices i = VarsOf(stage.axes);
  stage.index = index(i);
  stage.value = term(i, VarsOf(stage.reduce));
  const DType dtype = stage.value.type().dtype;
  if (!stage.reduce.empty()) {
    stage.combine = combine;
    stage.init = Neutral(combine, dtype);
  }
  stage.buffer = loop::MakeBuffer(absl::StrCat(name_, "_", name), dtype, std::move(shape),
                                  BufferScope::kWorkspace);
  result_.stages.push_back(stage);
  return [buffer = stage.buffer](const Indices& at) { return loop::MakeLoad(buffer, at); };
}

void StageBuilder::Output(int k, const std::function<Expr(const Indices&)>& value) {
  const Buffer& buffer = outputs_[static_cast<size_t>(k)];
  Stage stage;
  stage.buffer = buffer;
  stage.axes = MakeAxes("i", buffer->shape);
  stage.index = VarsOf(stage.axes);
  stage.value = CastTo(buffer->dtype, value(stage.index));
  result_.stages.push_back(std::move(stage));
}

void StageBuilder::Update(int k, Shape axes, const std::function<Indices(const Indices&)>& index,
                          const std::function<Expr(const Indices&, const Expr&)>& value) {
  const Buffer& buffer = outputs_[static_cast<size_t>(k)];
  Stage stage;
  stage.buffer = buffer;
  stage.axes = MakeAxes("i", axes);
  const Indices i = VarsOf(stage.axes);
  stage.index = index(i);
  Expr old = loop::MakeLoad(buffer, stage.index);
  if (buffer->dtype != ComputeType(buffer->dtype)) {
    old = loop::MakeCast(ComputeType(buffer->dtype), old);
  }
  stage.value = CastTo(buffer->dtype, value(i, old));
  stage.update = true;
  result_.stages.push_back(std::move(stage));
}

void StageBuilder::Check(int k, Shape axes, const std::function<Indices(const Indices&)>& index,
                         const std::function<Stage::Check(const Expr&)>& check) {
  Stage stage;
  stage.buffer = outputs_[static_cast<size_t>(k)];
  stage.axes = MakeAxes("i", axes);
  stage.index = index(VarsOf(stage.axes));
  stage.value = loop::MakeLoad(stage.buffer, stage.index);
  stage.check = check(stage.value);
  stage.update = true;
  result_.stages.push_back(std::move(stage));
}

Access StageBuilder::Recurrence(std::string name, Shape shape,
                                const std::function<Expr(const Indices&)>& first, Shape axes,
                                const std::function<Indices(const Indices&)>& index,
                                const std::function<Expr(const Indices&, const Access&)>& next) {
  Access so_far = Compute(std::move(name), std::move(shape), first);
  if (NumElements(axes) == 0) return so_far;
  Stage stage;
  stage.buffer = result_.stages.back().buffer;
  stage.axes = MakeAxes("i", axes);
  const Indices point = VarsOf(stage.axes);
  stage.index = index(point);
  stage.value = next(point, so_far);
  stage.update = true;
  result_.stages.push_back(std::move(stage));
  return so_far;
}

Access StageBuilder::Running(std::string name, Shape shape, size_t axis, Combine combine,
                             const std::function<Expr(const Indices&)>& term) {
  Shape steps = shape;
  steps[axis] = std::max<int64_t>(steps[axis] - 1, 0);
  const auto following = [axis](Indices i) {
    i[axis] = i[axis] + Expr(1);
    return i;
  };
  return Recurrence(std::move(name), std::move(shape), term, std::move(steps), following,
                    [&](const Indices& i, const Access& so_far) {
                      return loop::CombineExprs(combine, so_far(i), so_far(following(i)));
                    });
}

Access StageBuilder::Ranks(std::string name, Shape shape, size_t axis, int64_t count,
                           const std::function<Expr(const Indices&, const Expr&)>& key) {
  Stage stage;
  stage.axes = MakeAxes("i", shape);
  stage.index = VarsOf(stage.axes);
  stage.reduce = MakeAxes("r", {count});
  stage.rank_axis = axis;
  stage.value = key(stage.index, stage.reduce[0].var);
  stage.buffer = loop::MakeBuffer(absl::StrCat(name_, "_", name), DType::Int(32), std::move(shape),
                                  BufferScope::kWorkspace);
  result_.stages.push_back(stage);
  return [buffer = stage.buffer](const Indices& at) { return loop::MakeLoad(buffer, at); };
}

StageBuilder::Result StageBuilder::Finish() && {
#ifndef NDEBUG
  for (const Buffer& output : outputs_) {
    bool defined = false;
    for (const Stage& stage : result_.stages) defined = defined || stage.buffer == output;
    assert(defined && "every output is defined");
  }
#endif
  return std::move(result_);
}

DType ComputeType(DType dtype) { return dtype == DType::Float(16) ? DType::Float(32) : dtype; }

Expr Neutral(Combine combine, DType dtype) {
  const loop::Type type = loop::Type::Of(dtype);
  const double infinity = std::numeric_limits<double>::infinity();
  switch (combine) {
    case Combine::kNone:
    case Combine::kSum:
      return loop::Const(type, 0);
    case Combine::kProd:
      return loop::Const(type, 1);
    case Combine::kMax:
    case Combine::kMaxOfNumbers:
      return dtype.is_float() ? loop::FloatConst(type, -infinity)
                              : loop::IntConst(type, dtype.is_bool() ? 0 : dtype.MinInt());
    case Combine::kMin:
      return dtype.is_float() ? loop::FloatConst(type, infinity)
                              : loop::IntConst(type, dtype.is_bool() ? 1 : dtype.MaxInt());
  }
  return loop::Const(type, 0);
}

Expr GuardedValue(const Access& x, const Shape& shape, Indices index, Expr in_bounds,
                  Expr otherwise) {
  for (size_t d = 0; d < index.size(); ++d) {
    if (shape[d] == 0) return otherwise;
    index[d] = ClampIndex(index[d], shape[d]);
  }
  return loop::MakeSelect(in_bounds, x(index), otherwise);
}

Expr IndexFromEnds(const Expr& index, int64_t extent) {
  if (index.type().dtype.is_uint()) return ClampIndex(index, extent);
  const Expr wide = loop::ToIndex(index);
  return ClampIndex(loop::MakeSelect(wide < Expr(0), wide + Expr(extent), wide), extent);
}

Expr I32Const(int64_t value) { return loop::IntConst(loop::Type::Of(DType::Int(32)), value); }

Expr ClampIndex(Expr index, int64_t extent) {
  const loop::Type type = index.type();
  const int64_t last = extent > 0 ? extent - 1 : 0;
  const bool is_uint64 = type.dtype == DType::UInt(64);
  // A narrow type that cannot hold `last` needs no upper bound.
  if (is_uint64 || last <= type.dtype.MaxInt()) index = Min(index, loop::IntConst(type, last));
  if (!type.dtype.is_uint()) index = Max(index, loop::IntConst(type, 0));
  return type.index ? index : loop::ToIndex(index);
}

}  // namespace kiln
