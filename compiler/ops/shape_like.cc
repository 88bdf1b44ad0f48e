// SPDX-License-Identifier: Apache-2.0
// reshape_like and slice_like take the shape of another tensor, whose elements are not read.
#include "compiler/base/limits.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/reindex.h"

namespace kiln {
namespace {

// Dimensions [begin, end) of a shape, from the attributes `prefix`_begin and `prefix`_end.
struct Part {
  int64_t begin, end;
};

absl::StatusOr<Part> PartOf(const Attrs& attrs, const std::string& prefix, int rank) {
  const AttrValue &begin = attrs.Get(prefix + "_begin"), &end = attrs.Get(prefix + "_end");
  Part part{begin.is_none() ? 0 : attrs.Int(prefix + "_begin"),
            end.is_none() ? rank : attrs.Int(prefix + "_end")};
  const bool in_range =
      part.begin >= -rank && part.begin <= rank && part.end >= -rank && part.end <= rank;
  if (in_range && part.begin < 0) part.begin += rank;
  if (in_range && part.end < 0) part.end += rank;
  KILN_CONSTRAINT(
      1, in_range && part.begin <= part.end,
      absl::StrCat(prefix, "_begin ", begin.ToString(), " and ", prefix, "_end ", end.ToString()),
      absl::StrCat("a range of ", rank, " dimensions"));
  return part;
}

InferResult InferReshapeLike(const InferContext& c) {
  const TensorType &data = c.inputs[0], &like = c.inputs[1];
  KILN_ASSIGN_OR_RETURN(const Part lhs, PartOf(c.attrs, "lhs", data.rank()));
  KILN_ASSIGN_OR_RETURN(const Part rhs, PartOf(c.attrs, "rhs", like.rank()));
  Shape shape(data.shape.begin(), data.shape.begin() + lhs.begin);
  shape.insert(shape.end(), like.shape.begin() + rhs.begin, like.shape.begin() + rhs.end);
  shape.insert(shape.end(), data.shape.begin() + lhs.end, data.shape.end());
  const bool fits = CheckTensorType({shape, data.dtype}).ok();
  KILN_CONSTRAINT(2, fits && NumElements(shape) == data.num_elements(), ShapeToString(shape),
                  absl::StrCat("a shape of ", data.num_elements(), " elements"));
  return OutputTypes({{std::move(shape), data.dtype}});
}

InferResult InferSliceLike(const InferContext& c) {
  const TensorType &data = c.inputs[0], &like = c.inputs[1];
  std::vector<int> axes;
  if (c.attrs.Ints("axes").empty()) {
    KILN_CONSTRAINT(1, like.rank() <= data.rank(), absl::StrCat("shape_like of rank ", like.rank()),
                    absl::StrCat("at most ", data.rank()));
    for (int d = 0; d < like.rank(); ++d) axes.push_back(d);
  } else {
    KILN_ASSIGN_OR_RETURN(axes, NormalizeAxes(c.attrs.Ints("axes"), data.rank(), 1));
  }
  Shape shape = data.shape;
  for (int axis : axes) {
    const auto d = static_cast<size_t>(axis);
    KILN_CONSTRAINT(1, axis < like.rank(), absl::StrCat("axis ", axis), "one of shape_like too");
    KILN_CONSTRAINT(2, like.shape[d] <= shape[d],
                    absl::StrCat(like.shape[d], " places of ", shape[d], " along axis ", axis),
                    "no more than data has");
    shape[d] = like.shape[d];
  }
  return OutputTypes({{std::move(shape), data.dtype}});
}

absl::Status LowerSliceLike(StageBuilder& b) {
  b.Output(0, b.Input(0));
  return absl::OkStatus();
}

AttrSchema BoundSchema(std::string name, AttrValue otherwise, std::string doc) {
  return {std::move(name), AttrType::kInt, std::move(otherwise), false, std::move(doc)};
}

const std::vector<InputSchema> kInputs = {{"data", "any type"},
                                          {"shape_like", "any type; its elements are not read"}};

const OpDef kShapeLikes[] = {
    {{.name = "reshape_like",
      .doc = "The elements of data in the same order. Dimensions of data from lhs_begin up to "
             "lhs_end are replaced by dimensions of shape_like from rhs_begin up to rhs_end, each "
             "without the end. Negative bounds count from the end.",
      .inputs = kInputs,
      .attrs = {BoundSchema("lhs_begin", 0, "first dimension of data that is replaced"),
                BoundSchema("lhs_end", AttrValue::None(),
                            "dimension after the last one that is replaced; all if None"),
                BoundSchema("rhs_begin", 0, "first dimension of shape_like that is taken"),
                BoundSchema("rhs_end", AttrValue::None(),
                            "dimension after the last one that is taken; all if None")}},
     {"each begin and end are a range of the dimensions", "the number of elements stays the same"},
     {.fusion = Fusion::kInjective,
      .layout = LayoutRule::kFixed,
      .origin = Origin::kMoved,
      .view = View::kReshaped},
     InferReshapeLike,
     LowerReindex,
     {Case({Iota(F32({2, 3})), Iota(I32({6}))}, {}, {Iota(F32({6}))}),
      Case({Iota(I8({30, 7})), Iota(F32({15, 2, 4}))},
           {{"lhs_end", 1}, {"rhs_begin", 0}, {"rhs_end", 2}}, {Iota(I8({15, 2, 7}))}),
      Case({Iota(F32({2, 6})), Iota(F32({9, 2, 3}))}, {{"lhs_begin", -1}, {"rhs_begin", -2}},
           {Iota(F32({2, 2, 3}))}),
      {.inputs = {F16({4, 3}), F32({3, 2, 2})}}}},
    {{.name = "slice_like",
      .doc = "The first positions of data along the axes, as many as shape_like has there.",
      .inputs = kInputs,
      .attrs = {{"axes",
                 AttrType::kInts,
                 {},
                 false,
                 "axes to cut; all axes of shape_like if None or []"}}},
     {"axes names axes of both data and shape_like, each at most once",
      "data has at least as many positions along them"},
     {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
     InferSliceLike,
     LowerSliceLike,
     {Case({Iota(F32({2, 3})), Iota(I8({1, 2}))}, {}, {Values(F32({1, 2}), {0, 1})}),
      Case({Iota(I32({3, 3})), Iota(I8({1, 2}))}, {{"axes", AttrValue::Ints({-1})}},
           {Values(I32({3, 2}), {0, 1, 3, 4, 6, 7})}),
      {.inputs = {F16({4, 3}), F32({2, 5})}, .attrs = {{"axes", AttrValue::Ints({0})}}}}},
};
KILN_REGISTER_OPS(kShapeLikes);

}  // namespace
}  // namespace kiln
