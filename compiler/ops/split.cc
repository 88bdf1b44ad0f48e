// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

// Limit on the number of parts. Each part is an output.
constexpr int64_t kMaxParts = 65536;

absl::StatusOr<int> NumOutputs(const Attrs& attrs, size_t) {
  const AttrValue& parts = attrs.Get("indices_or_sections");
  const int64_t count = parts.is_list()
                            ? static_cast<int64_t>(attrs.Ints("indices_or_sections").size()) + 1
                            : attrs.Int("indices_or_sections");
  KILN_CONSTRAINT(2, count >= 1 && count <= kMaxParts, absl::StrCat(count, " parts"),
                  absl::StrCat("1 to ", kMaxParts));
  return static_cast<int>(count);
}

// The index at which each part begins along an axis of `extent`, followed by
// the end of the last one.
absl::StatusOr<std::vector<int64_t>> Bounds(const Attrs& attrs, int64_t extent) {
  KILN_ASSIGN_OR_RETURN(const int parts, NumOutputs(attrs, 1));
  std::vector<int64_t> bounds = {0};
  if (attrs.Get("indices_or_sections").is_list()) {
    for (int64_t bound : attrs.Ints("indices_or_sections")) bounds.push_back(bound);
    bounds.push_back(extent);
    for (size_t k = 1; k < bounds.size(); ++k) {
      KILN_CONSTRAINT(3, bounds[k - 1] <= bounds[k] && bounds[k] <= extent,
                      absl::StrCat("indices ", attrs.Get("indices_or_sections").ToString()),
                      absl::StrCat("a sequence that does not fall, from 0 to ", extent));
    }
    return bounds;
  }
  KILN_CONSTRAINT(4, extent % parts == 0, absl::StrCat(parts, " sections"),
                  absl::StrCat("a divisor of ", extent));
  for (int k = 1; k <= parts; ++k) bounds.push_back(extent / parts * k);
  return bounds;
}

InferResult InferSplit(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_ASSIGN_OR_RETURN(const int normal, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 1));
  const size_t axis = static_cast<size_t>(normal);
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> bounds, Bounds(c.attrs, data.shape[axis]));
  std::vector<TensorType> types;
  for (size_t k = 0; k + 1 < bounds.size(); ++k) {
    types.push_back(data);
    types.back().shape[axis] = bounds[k + 1] - bounds[k];
  }
  return OutputTypes(std::move(types));
}

absl::Status LowerSplit(StageBuilder& b) {
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.input_shape(0).size());
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> bounds,
                        Bounds(b.attrs(), b.input_shape(0)[axis]));
  for (int k = 0; k < b.num_outputs(); ++k) {
    b.Output(k, [&](const Indices& i) {
      Indices at = i;
      at[axis] = i[axis] + Expr(bounds[static_cast<size_t>(k)]);
      return b.Input(0)(at);
    });
  }
  return absl::OkStatus();
}

const OpDef kSplit = {
    {.name = "split",
     .doc = "data cut along the axis, into a number of equal parts or at a list of indices.",
     .inputs = {{"data", "any type of rank 1 or more"}},
     .attrs = {{"indices_or_sections",
                AttrType::kIntOrInts,
                {},
                true,
                "number of parts, or the index at which each part but the first begins"},
               {"axis", AttrType::kInt, 0, false, "axis to cut along"}},
     .num_outputs = NumOutputs},
    {"axis is an axis of data", "there are 1 to 65536 parts",
     "indices do not decrease, and are from 0 to the extent of the axis",
     "a number of parts divides the extent"},
    {.fusion = Fusion::kInjective,
     .layout = {LayoutRule::kAxis, "axis"},
     .origin = Origin::kMoved,
     .parts = Parts::kSplit},
    InferSplit,
    LowerSplit,
    {Case({Iota(F32({2, 2}))}, {{"indices_or_sections", 2}, {"axis", 1}},
          {Values(F32({2, 1}), {0, 2}), Values(F32({2, 1}), {1, 3})}),
     Case({Iota(I32({5}))}, {{"indices_or_sections", AttrValue::Ints({1, 4})}},
          {Values(I32({1}), {0}), Values(I32({3}), {1, 2, 3}), Values(I32({1}), {4})}),
     {.inputs = {F16({2, 6})}, .attrs = {{"indices_or_sections", 3}, {"axis", -1}}},
     {.inputs = {F32({4})}, .attrs = {{"indices_or_sections", 1}}}},
};
KILN_REGISTER_OP(kSplit);

}  // namespace
}  // namespace kiln
