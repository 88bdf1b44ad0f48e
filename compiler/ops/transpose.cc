// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

InferResult InferTranspose(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<int> axes, TransposeAxes(c.attrs, c.inputs[0].rank(), 1));
  Shape shape;
  for (int axis : axes) shape.push_back(c.inputs[0].shape[static_cast<size_t>(axis)]);
  return OutputTypes({{std::move(shape), c.inputs[0].dtype}});
}

absl::Status LowerTranspose(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const std::vector<int> axes,
                        TransposeAxes(b.attrs(), static_cast<int>(b.input_shape(0).size()), 1));
  b.Output(0, [&](const Indices& i) {
    Indices at(i.size());
    for (size_t d = 0; d < i.size(); ++d) at[static_cast<size_t>(axes[d])] = i[d];
    return b.Input(0)(at);
  });
  return absl::OkStatus();
}

const OpDef kTranspose = {
    {.name = "transpose",
     .doc = "Dimension d of the result is dimension axes[d] of data.",
     .inputs = {{"data", "any type"}},
     .attrs = {{"axes", AttrType::kInts, {}, false, "every axis once; the reverse order if None"}}},
    {"axes has every axis of data once"},
    {.fusion = Fusion::kInjective,
     .layout = LayoutRule::kTranspose,
     .origin = Origin::kMoved,
     .is_read_in_place = true},
    InferTranspose,
    LowerTranspose,
    {Case({Iota(F32({2, 3}))}, {}, {Values(F32({3, 2}), {0, 3, 1, 4, 2, 5})}),
     Case({Iota(U8({1, 2, 2}))}, {{"axes", AttrValue::Ints({2, 0, -2})}},
          {Values(U8({2, 1, 2}), {0, 2, 1, 3})}),
     {.inputs = {F32({2, 3, 4, 5})}, .attrs = {{"axes", AttrValue::Ints({0, 2, 3, 1})}}},
     {.inputs = {F32({2, 2, 3, 4, 5})}, .attrs = {{"axes", AttrValue::Ints({0, 2, 1, 3, 4})}}},
     {.inputs = {F16({2, 3})}, .attrs = {{"axes", AttrValue::Ints({0, 1})}}}},
};
KILN_REGISTER_OP(kTranspose);

// Positions in src_layout of the letters of dst_layout.
absl::StatusOr<std::vector<size_t>> LayoutPermutation(const Attrs& attrs, size_t rank) {
  const std::string &from = attrs.String("src_layout"), &to = attrs.String("dst_layout");
  std::string from_sorted = from, to_sorted = to;
  std::sort(from_sorted.begin(), from_sorted.end());
  std::sort(to_sorted.begin(), to_sorted.end());
  const bool repeats =
      std::adjacent_find(from_sorted.begin(), from_sorted.end()) != from_sorted.end();
  KILN_CONSTRAINT(1, from_sorted == to_sorted && !repeats, absl::StrCat(from, " to ", to),
                  "two orders of the same letters, each once");
  KILN_CONSTRAINT(2, from.size() == rank, absl::StrCat("layout ", from),
                  absl::StrCat(rank, " letters"));
  std::vector<size_t> axes;
  for (char letter : to) axes.push_back(from.find(letter));
  return axes;
}

InferResult InferLayout(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<size_t> axes,
                        LayoutPermutation(c.attrs, c.inputs[0].shape.size()));
  Shape shape;
  for (size_t axis : axes) shape.push_back(c.inputs[0].shape[axis]);
  return OutputTypes({{std::move(shape), c.inputs[0].dtype}});
}

absl::Status LowerLayout(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const std::vector<size_t> axes,
                        LayoutPermutation(b.attrs(), b.input_shape(0).size()));
  b.Output(0, [&](const Indices& i) {
    Indices at(i.size());
    for (size_t d = 0; d < i.size(); ++d) at[axes[d]] = i[d];
    return b.Input(0)(at);
  });
  return absl::OkStatus();
}

const OpDef kLayoutTransform = {
    {.name = "layout_transform",
     .doc = "data with its dimensions in another order. The letters of src_layout name them, and "
            "dst_layout gives the new order.",
     .inputs = {{"data", "any type, with one dimension per letter"}},
     .attrs = {{"src_layout", AttrType::kString, {}, true, "layout of data: \"NCHW\", \"OIHW\", …"},
               {"dst_layout",
                AttrType::kString,
                {},
                true,
                "layout of the result: \"NHWC\", \"HWIO\", …"}}},
    {"the layouts are orders of the same letters, each once", "data has one dimension per letter"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
    InferLayout,
    LowerLayout,
    {Case({Iota(F32({1, 2, 1, 2}))}, {{"src_layout", "NCHW"}, {"dst_layout", "NHWC"}},
          {Values(F32({1, 1, 2, 2}), {0, 2, 1, 3})}),
     {.inputs = {F32({1, 4, 5, 3})}, .attrs = {{"src_layout", "NHWC"}, {"dst_layout", "NCHW"}}},
     {.inputs = {I8({4, 3, 2, 2})}, .attrs = {{"src_layout", "OIHW"}, {"dst_layout", "HWIO"}}}},
};
KILN_REGISTER_OP(kLayoutTransform);

}  // namespace
}  // namespace kiln
