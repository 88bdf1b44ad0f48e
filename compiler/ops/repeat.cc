// SPDX-License-Identifier: Apache-2.0
// tile, repeat, reverse, broadcast_to, broadcast_to_like.
#include "compiler/base/limits.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/reindex.h"

namespace kiln {
namespace {

InferResult InferTile(const InferContext& c) {
  Shape data = c.inputs[0].shape;
  std::vector<int64_t> reps = c.attrs.Ints("reps");
  KILN_CONSTRAINT(1, !reps.empty() && reps.size() <= static_cast<size_t>(kMaxRank),
                  absl::StrCat(reps.size(), " reps"), absl::StrCat("1 to ", kMaxRank));
  const size_t rank = std::max(data.size(), reps.size());
  data.insert(data.begin(), rank - data.size(), 1);
  reps.insert(reps.begin(), rank - reps.size(), 1);
  for (size_t d = 0; d < rank; ++d) {
    KILN_CONSTRAINT(1, reps[d] >= 0, absl::StrCat("reps ", AttrValue::Ints(reps).ToString()),
                    "numbers that are not negative");
    KILN_CONSTRAINT(2, !__builtin_mul_overflow(data[d], reps[d], &data[d]),
                    absl::StrCat("reps ", reps[d]), "a tensor within the limits");
  }
  return OutputTypes({{std::move(data), c.inputs[0].dtype}});
}

absl::Status LowerTile(StageBuilder& b) {
  const Shape& data = b.input_shape(0);
  b.Output(0, [&](const Indices& i) {
    const size_t skipped = i.size() - data.size();
    Indices at;
    for (size_t d = 0; d < data.size(); ++d) {
      const bool repeats = data[d] != b.output_shape(0)[skipped + d];
      at.push_back(repeats ? i[skipped + d] % Expr(data[d]) : i[skipped + d]);
    }
    return b.Input(0)(at);
  });
  return absl::OkStatus();
}

InferResult InferRepeat(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  const int64_t repeats = c.attrs.Int("repeats");
  KILN_CONSTRAINT(1, repeats >= 1, absl::StrCat("repeats ", repeats), "a positive number");
  Shape shape = {data.num_elements()};
  size_t axis = 0;
  if (!c.attrs.IsNone("axis")) {
    KILN_ASSIGN_OR_RETURN(const int normal, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
    axis = static_cast<size_t>(normal);
    shape = data.shape;
  }
  KILN_CONSTRAINT(3, !__builtin_mul_overflow(shape[axis], repeats, &shape[axis]),
                  absl::StrCat("repeats ", repeats), "a tensor within the limits");
  return OutputTypes({{std::move(shape), data.dtype}});
}

absl::Status LowerRepeat(StageBuilder& b) {
  const Shape& data = b.input_shape(0);
  const bool flat = b.attrs().IsNone("axis");
  const size_t axis = flat ? 0 : AxisOf(b.attrs().Int("axis"), data.size());
  const Expr repeats = b.attrs().Int("repeats");
  b.Output(0, [&](const Indices& i) {
    Indices at = i;
    at[axis] = i[axis] / repeats;
    return b.Input(0)(flat ? Reindexed(at, {NumElements(data)}, data) : at);
  });
  return absl::OkStatus();
}

InferResult InferReverse(const InferContext& c) {
  KILN_RETURN_IF_ERROR(NormalizeAxes(c.attrs.Ints("axis"), c.inputs[0].rank(), 1).status());
  return OutputTypes({c.inputs[0]});
}

absl::Status LowerReverse(StageBuilder& b) {
  b.Output(0, [&](const Indices& i) {
    Indices at = i;
    for (int64_t axis : b.attrs().Ints("axis")) {
      const size_t d = AxisOf(axis, i.size());
      at[d] = Expr(b.input_shape(0)[d] - 1) - i[d];
    }
    return b.Input(0)(at);
  });
  return absl::OkStatus();
}

InferResult InferTo(const TensorType& data, Shape shape, int constraint) {
  KILN_ASSIGN_OR_RETURN(const Shape common, BroadcastShapes(data.shape, shape, constraint));
  KILN_CONSTRAINT(constraint, common == shape,
                  absl::StrCat(ShapeToString(data.shape), " to ", ShapeToString(shape)),
                  "a shape that data broadcasts to");
  return OutputTypes({{std::move(shape), data.dtype}});
}

InferResult InferBroadcastTo(const InferContext& c) {
  return InferTo(c.inputs[0], c.attrs.Ints("shape"), 1);
}
InferResult InferBroadcastToLike(const InferContext& c) {
  return InferTo(c.inputs[0], c.inputs[1].shape, 1);
}

absl::Status LowerBroadcast(StageBuilder& b) {
  b.Output(0, Broadcast(b.Input(0), b.input_shape(0)));
  return absl::OkStatus();
}

const OpDef kRepeats[] = {
    {{.name = "tile",
      .doc = "data repeated reps[d] times along dimension d. If reps[d] is 0, the result is empty "
             "(TVM requires positive numbers). The shorter of the shape and reps is filled up with "
             "ones at the front.",
      .inputs = {{"data", "any type"}},
      .attrs = {{"reps", AttrType::kInts, {}, true, "number of repetitions per dimension"}}},
     {"reps has 1 to 16 nonnegative numbers", "the result is a tensor within the limits"},
     {.fusion = Fusion::kInjective,
      .layout = {LayoutRule::kPerAxis, "reps"},
      .origin = Origin::kMoved},
     InferTile,
     LowerTile,
     {Case({Values(F32({2}), {1, 2})}, {{"reps", List({2, 2})}},
           {Values(F32({2, 4}), {1, 2, 1, 2, 1, 2, 1, 2})}),
      Case({Values(I32({2, 1}), {1, 2})}, {{"reps", List({3})}},
           {Values(I32({2, 3}), {1, 1, 1, 2, 2, 2})}),
      Case({Values(F32({2}), {1, 2})}, {{"reps", List({3, 0})}}, {Values(F32({3, 0}), {})}),
      {.inputs = {F16({2, 3, 4})}, .attrs = {{"reps", List({1, 2, 1})}}}}},
    {{.name = "repeat",
      .doc = "Every position along the axis, repeats times in a row.",
      .inputs = {{"data", "any type"}},
      .attrs = {{"repeats", AttrType::kInt, {}, true, "number of repetitions"},
                {"axis",
                 AttrType::kInt,
                 {},
                 false,
                 "axis to repeat along; data is taken as a vector if None"}}},
     {"repeats is positive", "axis is an axis of data", "the result is a tensor within the limits"},
     {.fusion = Fusion::kInjective,
      .layout = {LayoutRule::kAxis, "axis"},
      .origin = Origin::kMoved},
     InferRepeat,
     LowerRepeat,
     {Case({Values(F32({2, 2}), {1, 2, 3, 4})}, {{"repeats", 2}, {"axis", 1}},
           {Values(F32({2, 4}), {1, 1, 2, 2, 3, 3, 4, 4})}),
      Case({Values(I32({2, 1}), {1, 2})}, {{"repeats", 2}}, {Values(I32({4}), {1, 1, 2, 2})}),
      {.inputs = {F16({2, 3})}, .attrs = {{"repeats", 3}, {"axis", -2}}}}},
    {{.name = "reverse",
      .doc = "data with the order along the axes reversed.",
      .inputs = {{"data", "any type"}},
      .attrs = {{"axis", AttrType::kInts, {}, true, "one axis or several axes"}}},
     {"axis names axes of data, each at most once"},
     {.fusion = Fusion::kInjective,
      .layout = {LayoutRule::kAxis, "axis"},
      .origin = Origin::kMoved},
     InferReverse,
     LowerReverse,
     {Case({Iota(F32({2, 2}))}, {{"axis", 1}}, {Values(F32({2, 2}), {1, 0, 3, 2})}),
      Case({Iota(I32({2, 2}))}, {{"axis", List({0, -1})}}, {Values(I32({2, 2}), {3, 2, 1, 0})}),
      {.inputs = {F16({2, 3})}, .attrs = {{"axis", 0}}}}},
    {{.name = "broadcast_to",
      .doc = "data broadcast to the shape.",
      .inputs = {{"data", "any type"}},
      .attrs = {{"shape", AttrType::kInts, {}, true, "shape of the result"},
                {"dtype", AttrType::kDType, "", false,
                 "not read; the result has the dtype of data"}}},
     {"data broadcasts to the shape"},
     {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
     InferBroadcastTo,
     LowerBroadcast,
     {Case({Values(F32({2, 1}), {1, 2})}, {{"shape", List({2, 2})}},
           {Values(F32({2, 2}), {1, 1, 2, 2})}),
      Case({Values(I32({}), {7})}, {{"shape", List({3})}}, {Values(I32({3}), {7, 7, 7})}),
      {.inputs = {F16({3})}, .attrs = {{"shape", List({2, 3})}}}}},
    {{.name = "broadcast_to_like",
      .doc = "data broadcast to the shape of broadcast_type.",
      .inputs = {{"data", "any type"}, {"broadcast_type", "any type; its elements are not read"}}},
     {"data broadcasts to the shape of broadcast_type"},
     {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
     InferBroadcastToLike,
     LowerBroadcast,
     {Case({Values(F32({2, 1}), {1, 2}), Values(I8({2, 2}), {0, 0, 0, 0})}, {},
           {Values(F32({2, 2}), {1, 1, 2, 2})}),
      {.inputs = {I32({}), F32({2, 3})}},
      {.inputs = {F16({3}), F16({1, 3})}}}},
};
KILN_REGISTER_OPS(kRepeats);

}  // namespace
}  // namespace kiln
