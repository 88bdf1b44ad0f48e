// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

// One dimension: index i of the result is begin + i * stride of data.
struct Slice {
  int64_t begin = 0, stride = 1, size = 0;
};

// Brings an index of the attributes to the range that a walk with this stride can reach. A negative
// index counts from the end.
int64_t Bounded(int64_t index, int64_t extent, int64_t stride) {
  if (index < 0) index += extent;
  return std::clamp<int64_t>(index, stride < 0 ? -1 : 0, stride < 0 ? extent - 1 : extent);
}

absl::StatusOr<Slice> MakeSlice(int64_t extent, int64_t begin, const int64_t* end, int64_t stride,
                                bool by_size) {
  Slice slice;
  if (by_size) stride = 1;
  KILN_CONSTRAINT(4, stride != 0, absl::StrCat("stride ", stride), "a stride other than 0");
  // -INT64_MAX, like INT64_MIN, is longer than every extent, but it has an absolute value.
  stride = std::max(stride, -INT64_MAX);
  slice.stride = stride;
  slice.begin = Bounded(begin, extent, stride);
  int64_t stop = stride < 0 ? -1 : extent;
  if (end != nullptr && by_size) {
    const int64_t room = extent - slice.begin;
    KILN_CONSTRAINT(5, *end <= room, absl::StrCat("size ", *end, " from ", slice.begin),
                    absl::StrCat("at most ", room));
    stop = *end < 0 ? extent : slice.begin + *end;
  } else if (end != nullptr) {
    stop = Bounded(*end, extent, stride);
  }
  const int64_t distance = stride < 0 ? slice.begin - stop : stop - slice.begin,
                step = std::abs(stride);
  slice.size = distance <= 0 ? 0 : 1 + (distance - 1) / step;
  return slice;
}

absl::StatusOr<std::vector<Slice>> Slices(const Attrs& attrs, const Shape& data) {
  const std::vector<int64_t> begin = attrs.Ints("begin"), end = attrs.Ints("end"),
                             strides = attrs.Ints("strides");
  const std::string& mode = attrs.String("slice_mode");
  KILN_CONSTRAINT(1, mode == "end" || mode == "size", absl::StrCat("slice_mode ", mode),
                  "end or size");
  std::vector<int> axes;
  if (attrs.IsNone("axes")) {
    KILN_CONSTRAINT(2, begin.size() <= data.size(), absl::StrCat(begin.size(), " values of begin"),
                    absl::StrCat("at most ", data.size()));
    for (size_t d = 0; d < begin.size(); ++d) axes.push_back(static_cast<int>(d));
  } else {
    KILN_ASSIGN_OR_RETURN(axes,
                          NormalizeAxes(attrs.Ints("axes"), static_cast<int>(data.size()), 3));
    KILN_CONSTRAINT(2, begin.size() == axes.size(), absl::StrCat(begin.size(), " values of begin"),
                    absl::StrCat(axes.size(), ", one per axis"));
  }
  KILN_CONSTRAINT(2, end.size() <= axes.size() && strides.size() <= axes.size(),
                  absl::StrCat(end.size(), " values of end and ", strides.size(), " of strides"),
                  absl::StrCat("at most ", axes.size()));
  std::vector<Slice> slices;
  for (int64_t extent : data) slices.push_back({.size = extent});
  for (size_t k = 0; k < axes.size(); ++k) {
    const size_t d = static_cast<size_t>(axes[k]);
    const int64_t stride = strides.empty()       ? 1
                           : k < strides.size()  ? strides[k]
                           : strides.size() == 1 ? strides[0]
                                                 : 1;
    KILN_ASSIGN_OR_RETURN(
        slices[d],
        MakeSlice(data[d], begin[k], k < end.size() ? &end[k] : nullptr, stride, mode == "size"));
  }
  return slices;
}

InferResult InferStridedSlice(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Slice> slices, Slices(c.attrs, c.inputs[0].shape));
  Shape shape;
  for (const Slice& slice : slices) shape.push_back(slice.size);
  return OutputTypes({{std::move(shape), c.inputs[0].dtype}});
}

absl::Status LowerStridedSlice(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Slice> slices, Slices(b.attrs(), b.input_shape(0)));
  b.Output(0, [&](const Indices& i) {
    Indices at;
    for (size_t d = 0; d < i.size(); ++d) {
      // A result of at most one place never uses the stride, which may exceed the data.
      const int64_t stride = slices[d].size <= 1 ? 1 : slices[d].stride;
      at.push_back(i[d] * Expr(stride) + Expr(slices[d].begin));
    }
    return b.Input(0)(at);
  });
  return absl::OkStatus();
}

const OpDef kStridedSlice = {
    {.name = "strided_slice",
     .doc = "data[begin:end:stride] along every axis, as in NumPy: negative indices count from the "
            "end, and indices beyond data are clamped to its ends. With slice_mode \"size\", end "
            "has sizes, where -1 means all that is left, and strides are 1.",
     .inputs = {{"data", "any type"}},
     .attrs =
         {{"begin", AttrType::kInts, {}, false, "first index per axis"},
          {"end",
           AttrType::kInts,
           {},
           false,
           "index after the last one per axis, or size; the end of data if missing"},
          {"strides", AttrType::kInts, {}, false, "stride per axis, or one for all; 1 if missing"},
          {"slice_mode", AttrType::kString, "end", false, "end or size"},
          {"axes", AttrType::kInts, {}, false, "axes to slice; the first ones if None"}}},
    {"slice_mode is end or size", "begin has one value per axis, and end and strides have no more",
     "axes names axes of data, each at most once", "no stride is 0",
     "a size does not reach beyond the data"},
    {.fusion = Fusion::kInjective,
     .layout = {LayoutRule::kSlice, "axes"},
     .origin = Origin::kMoved},
    InferStridedSlice,
    LowerStridedSlice,
    {Case({Iota(F32({2, 4}))}, {{"begin", List({0, 1})}, {"end", List({2, 3})}},
          {Values(F32({2, 2}), {1, 2, 5, 6})}),
     Case({Iota(F32({6}))}, {{"begin", List({-1})}, {"end", List({-100})}, {"strides", List({-2})}},
          {Values(F32({3}), {5, 3, 1})}),
     // The longest stride, which has no absolute value.
     Case({Iota(F32({6}))},
          {{"begin", List({4})}, {"end", List({-100})}, {"strides", List({INT64_MIN})}},
          {Values(F32({1}), {4})}),
     Case({Iota(I32({2, 4}))},
          {{"begin", List({1})}, {"end", List({-1})}, {"slice_mode", "size"}, {"axes", List({-1})}},
          {Values(I32({2, 3}), {1, 2, 3, 5, 6, 7})}),
     Case({Iota(I32({4}))}, {{"begin", List({3})}, {"end", List({1})}}, {Values(I32({0}), {})}),
     {.inputs = {F32({4, 5, 6})},
      .attrs = {{"begin", List({1, 0})}, {"end", List({4, 5})}, {"strides", List({2, 3})}}},
     {.inputs = {F16({3, 4})}, .attrs = {{"begin", List({1})}}}},
};
KILN_REGISTER_OP(kStridedSlice);

}  // namespace
}  // namespace kiln
