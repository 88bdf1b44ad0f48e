// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

InferResult InferSlidingWindow(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 1));
  const std::vector<int64_t> window = c.attrs.Ints("window_shape"),
                             strides = c.attrs.Ints("strides");
  const auto first = static_cast<size_t>(axis);
  const size_t dims = data.shape.size() - first;
  KILN_CONSTRAINT(2, window.size() == dims && strides.size() == dims,
                  absl::StrCat(window.size(), " extents and ", strides.size(), " strides"),
                  absl::StrCat(dims, " of each, one per dimension from the axis on"));
  Shape shape(data.shape.begin(), data.shape.begin() + axis);
  for (size_t k = 0; k < dims; ++k) {
    const int64_t extent = data.shape[first + k];
    KILN_CONSTRAINT(3, window[k] >= 1 && window[k] <= extent,
                    absl::StrCat("a window of ", window[k], " places of ", extent),
                    "one that fits in data");
    KILN_CONSTRAINT(4, strides[k] >= 1, absl::StrCat("stride ", strides[k]), "a positive one");
    shape.push_back((extent - window[k]) / strides[k] + 1);
  }
  shape.insert(shape.end(), window.begin(), window.end());
  return OutputTypes({{std::move(shape), data.dtype}});
}

absl::Status LowerSlidingWindow(StageBuilder& b) {
  const size_t rank = b.input_shape(0).size(), first = AxisOf(b.attrs().Int("axis"), rank);
  const std::vector<int64_t> strides = b.attrs().Ints("strides");
  b.Output(0, [&, x = b.Input(0)](const Indices& i) {
    Indices at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(first));
    for (size_t d = first; d < rank; ++d) {
      // With a single window the stride is never used, and may exceed the data.
      const int64_t stride = b.output_shape(0)[d] == 1 ? 1 : strides[d - first];
      at.push_back(i[d] * Expr(stride) + i[d + rank - first]);
    }
    return x(at);
  });
  return absl::OkStatus();
}

const OpDef kSlidingWindow = {
    {.name = "sliding_window",
     .doc = "The windows of data: out[a…, o…, k…] = data[a…, o * stride + k…]. There is a window "
            "of window_shape at every stride, over all dimensions from the axis on.",
     .inputs = {{"data", "any type of rank 1 or more"}},
     .attrs = {{"axis", AttrType::kInt, {}, true, "first axis that windows move along"},
               {"window_shape", AttrType::kInts, {}, true, "extents of a window"},
               {"strides", AttrType::kInts, {}, true, "positions from one window to the next"}}},
    {"axis is an axis of data",
     "window_shape and strides have one number per dimension from the axis on",
     "a window fits into data", "strides are positive"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
    InferSlidingWindow,
    LowerSlidingWindow,
    {Case({Iota(F32({2, 4}))}, {{"axis", 1}, {"window_shape", List({3})}, {"strides", List({1})}},
          {Values(F32({2, 2, 3}), {0, 1, 2, 1, 2, 3, 4, 5, 6, 5, 6, 7})}),
     Case({Iota(I32({3, 4}))},
          {{"axis", 0}, {"window_shape", List({2, 2})}, {"strides", List({1, 2})}},
          {Values(I32({2, 2, 2, 2}), {0, 1, 4, 5, 2, 3, 6, 7, 4, 5, 8, 9, 6, 7, 10, 11})}),
     {.inputs = {F16({2, 5, 6})},
      .attrs = {{"axis", -2}, {"window_shape", List({2, 3})}, {"strides", List({9, 2})}}}},
};
KILN_REGISTER_OP(kSlidingWindow);

}  // namespace
}  // namespace kiln
