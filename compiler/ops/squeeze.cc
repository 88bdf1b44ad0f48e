// SPDX-License-Identifier: Apache-2.0
// squeeze and expand_dims remove and add dimensions of extent 1.
#include "compiler/base/limits.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/reindex.h"

namespace kiln {
namespace {

InferResult InferSqueeze(const InferContext& c) {
  const Shape& data = c.inputs[0].shape;
  std::vector<bool> dropped(data.size());
  if (c.attrs.IsNone("axis")) {
    for (size_t d = 0; d < data.size(); ++d) dropped[d] = data[d] == 1;
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<int> axes,
                        NormalizeAxes(c.attrs.Ints("axis"), c.inputs[0].rank(), 1));
  for (int axis : axes) {
    const size_t d = static_cast<size_t>(axis);
    KILN_CONSTRAINT(2, data[d] == 1, absl::StrCat("axis ", axis, " of extent ", data[d]),
                    "an extent of 1");
    dropped[d] = true;
  }
  return OutputTypes({{ReducedShape(data, dropped, false), c.inputs[0].dtype}});
}

const OpDef kSqueeze = {
    {.name = "squeeze",
     .doc = "data without the dimensions of extent 1 that axis names.",
     .inputs = {{"data", "any type"}},
     .attrs = {{"axis", AttrType::kInts, {}, false, "axes to remove; all of extent 1 if None"}}},
    {"axis names axes of data, each at most once", "their extents are 1"},
    {.fusion = Fusion::kInjective,
     .layout = LayoutRule::kFixed,
     .origin = Origin::kMoved,
     .view = View::kReshaped},
    InferSqueeze,
    LowerReindex,
    {Case({Iota(F32({1, 2, 1}))}, {}, {Iota(F32({2}))}),
     Case({Iota(F32({1, 2, 1}))}, {{"axis", AttrValue::Ints({-1})}}, {Iota(F32({1, 2}))}),
     {.inputs = {F16({2, 1, 3})}, .attrs = {{"axis", 1}}}},
};
KILN_REGISTER_OP(kSqueeze);

InferResult InferExpandDims(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  const int64_t count = c.attrs.Int("num_newaxis");
  KILN_CONSTRAINT(1, count >= 0 && count <= kMaxRank - data.rank(),
                  absl::StrCat("num_newaxis ", count),
                  absl::StrCat("0 to ", kMaxRank - data.rank()));
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank() + 1, 2));
  Shape shape = data.shape;
  shape.insert(shape.begin() + axis, static_cast<size_t>(count), 1);
  return OutputTypes({{std::move(shape), data.dtype}});
}

const OpDef kExpandDims = {
    {.name = "expand_dims",
     .doc = "data with num_newaxis dimensions of extent 1 inserted before the dimension axis.",
     .inputs = {{"data", "any type"}},
     .attrs = {{"axis",
                AttrType::kInt,
                {},
                true,
                "index of the first new dimension; -1 is after the last dimension of data"},
               {"num_newaxis", AttrType::kInt, 1, false, "number of new dimensions"}}},
    {"the rank stays within the limits", "axis is a dimension of data, or one after the last"},
    {.fusion = Fusion::kInjective,
     .layout = LayoutRule::kFixed,
     .origin = Origin::kMoved,
     .view = View::kReshaped},
    InferExpandDims,
    LowerReindex,
    {Case({Iota(F32({2, 3}))}, {{"axis", 1}}, {Iota(F32({2, 1, 3}))}),
     Case({Iota(I32({2}))}, {{"axis", -1}, {"num_newaxis", 2}}, {Iota(I32({2, 1, 1}))}),
     {.inputs = {F16({2, 3})}, .attrs = {{"axis", 0}}}},
};
KILN_REGISTER_OP(kExpandDims);

}  // namespace
}  // namespace kiln
