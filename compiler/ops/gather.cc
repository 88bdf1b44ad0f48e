// SPDX-License-Identifier: Apache-2.0
// gather and gather_nd.
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/index_input.h"

namespace kiln {
namespace {

InferResult InferGather(const InferContext& c) {
  const TensorType &data = c.inputs[0], &indices = c.inputs[1];
  KILN_CONSTRAINT(1, indices.dtype.is_integral(), indices.dtype.ToString(),
                  "indices that are integers");
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
  KILN_CONSTRAINT(3, data.rank() == indices.rank(),
                  absl::StrCat("ranks ", data.rank(), " and ", indices.rank()), "one rank");
  for (size_t d = 0; d < data.shape.size(); ++d) {
    KILN_CONSTRAINT(3, static_cast<int>(d) == axis || indices.shape[d] <= data.shape[d],
                    absl::StrCat(ShapeToString(indices.shape), " of ", ShapeToString(data.shape)),
                    "indices no larger than data but along the axis");
  }
  KILN_CONSTRAINT(4, data.shape[static_cast<size_t>(axis)] >= 1 || indices.num_elements() == 0,
                  "no elements to gather", "at least one");
  return OutputTypes({{indices.shape, data.dtype}});
}

absl::Status LowerGather(StageBuilder& b) {
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.input_shape(0).size());
  b.Output(0, [&](const Indices& i) {
    Indices at = i;
    at[axis] = IndexFromEnds(b.Input(1)(i), b.input_shape(0)[axis]);
    return b.Input(0)(at);
  });
  return absl::OkStatus();
}

std::optional<IndexInput> IndexOfGather(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  const int64_t extent = data.shape[AxisOf(c.attrs.Int("axis"), static_cast<size_t>(data.rank()))];
  return IndexInput{1, {FromEnds(extent)}};
}

const OpDef kGather = {
    {.name = "gather",
     .doc = "out[i, …, k] = data[i, …, k], with the index along the axis replaced by indices[i, …, "
            "k]. Negative indices count from the end, and indices out of range are clamped to the "
            "nearest end.",
     .inputs = {{"data", "any type"}, {"indices", "integers, with as many dimensions as data"}},
     .attrs = {{"axis", AttrType::kInt, {}, true, "axis of data that the indices count along"}}},
    {"indices are integers", "axis is an axis of data",
     "indices have the rank of data and are no larger than data, except along the axis",
     "there is at least one element to gather"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
    InferGather,
    LowerGather,
    {Case({Values(F32({2, 2}), {1, 2, 3, 4}), Values(I32({2, 2}), {0, 0, 1, 0})}, {{"axis", 1}},
          {Values(F32({2, 2}), {1, 1, 4, 3})}),
     Case({Values(I32({3}), {1, 2, 3}), Values(I64({2}), {-1, 5})}, {{"axis", 0}},
          {Values(I32({2}), {3, 3})}),
     Case({Iota(F32({2, 2})), Values(U8({1, 2}), {1, 0})}, {{"axis", 0}},
          {Values(F32({1, 2}), {2, 1})})},
    IndexOfGather,
};
KILN_REGISTER_OP(kGather);

InferResult InferGatherNd(const InferContext& c) {
  const TensorType &data = c.inputs[0], &indices = c.inputs[1];
  KILN_CONSTRAINT(1, indices.dtype.is_integral(), indices.dtype.ToString(),
                  "indices that are integers");
  const int64_t batch = c.attrs.Int("batch_dims");
  KILN_CONSTRAINT(
      2, indices.rank() >= 1 && batch >= 0 && batch < indices.rank() && batch <= data.rank(),
      absl::StrCat("batch_dims ", batch, " of ", ShapeToString(data.shape), " and ",
                   ShapeToString(indices.shape)),
      "a number of dimensions that both have");
  const int64_t depth = indices.shape[0];
  KILN_CONSTRAINT(3, depth <= data.rank() - batch, absl::StrCat(depth, " indices per place"),
                  absl::StrCat("at most ", data.rank() - batch));
  KILN_CONSTRAINT(
      2, std::equal(data.shape.begin(), data.shape.begin() + batch, indices.shape.begin() + 1),
      absl::StrCat(ShapeToString(data.shape), " and ", ShapeToString(indices.shape)),
      "batch dimensions that are equal");
  Shape shape(indices.shape.begin() + 1, indices.shape.end());
  shape.insert(shape.end(), data.shape.begin() + batch + depth, data.shape.end());
  for (int64_t d = 0; d < depth; ++d) {
    KILN_CONSTRAINT(4,
                    data.shape[static_cast<size_t>(batch + d)] >= 1 || indices.num_elements() == 0,
                    "no elements to gather", "at least one");
  }
  return OutputTypes({{std::move(shape), data.dtype}});
}

absl::Status LowerGatherNd(StageBuilder& b) {
  const Shape &data = b.input_shape(0), &indices = b.input_shape(1);
  const size_t batch = static_cast<size_t>(b.attrs().Int("batch_dims")),
               depth = static_cast<size_t>(indices[0]);
  b.Output(0, [&](const Indices& i) {
    const auto own = i.begin() + static_cast<std::ptrdiff_t>(indices.size() - 1);
    Indices at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(batch));
    for (size_t d = 0; d < depth; ++d) {
      Indices which = {Expr(static_cast<int64_t>(d))};
      which.insert(which.end(), i.begin(), own);
      at.push_back(IndexFromEnds(b.Input(1)(which), data[batch + d]));
    }
    at.insert(at.end(), own, i.end());
    return b.Input(0)(at);
  });
  return absl::OkStatus();
}

std::optional<IndexInput> IndexOfGatherNd(const InferContext& c) {
  const auto batch = static_cast<size_t>(c.attrs.Int("batch_dims"));
  return PlacesOf(c.inputs[0].shape, batch, 1, c.inputs[1]);
}

const OpDef kGatherNd = {
    {.name = "gather_nd",
     .doc = "out[i, …] = data[indices[0, i], indices[1, i], …]. The first dimension of indices has "
            "one index for each of the first dimensions of data, after batch_dims dimensions that "
            "both tensors share. Negative indices count from the end, and indices out of range are "
            "clamped to the nearest end.",
     .inputs = {{"data", "any type"}, {"indices", "integers, (indices per position, positions…)"}},
     .attrs = {{"batch_dims", AttrType::kInt, 0, false, "number of shared batch dimensions"},
               {"index_rank",
                AttrType::kInt,
                {},
                false,
                "number of indices per position; not read, because the shape gives it"}}},
    {"indices are integers", "data and indices have batch_dims equal batch dimensions",
     "there are no more indices per position than dimensions of data after the batch dimensions",
     "there is at least one element to gather"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
    InferGatherNd,
    LowerGatherNd,
    {Case({Values(F32({2, 2}), {1, 2, 3, 4}), Values(I32({2, 3}), {0, 1, 1, 1, 0, -1})}, {},
          {Values(F32({3}), {2, 3, 4})}),
     Case({Values(F32({2, 2}), {1, 2, 3, 4}), Values(I32({1, 1}), {1})}, {},
          {Values(F32({1, 2}), {3, 4})}),
     Case({Values(F32({2, 2}), {1, 2, 3, 4}), Values(I64({1, 2}), {1, 0})}, {{"batch_dims", 1}},
          {Values(F32({2}), {2, 3})})},
    IndexOfGatherNd,
};
KILN_REGISTER_OP(kGatherNd);

}  // namespace
}  // namespace kiln
