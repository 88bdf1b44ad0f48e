// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/channels_last.h"

#include <algorithm>

#include "compiler/ops/axes.h"

namespace kiln {
namespace {

// Returns the position in (N, H, W, C…) of an axis of (N, C…, H, W).
int64_t MovedAxis(int64_t axis, int64_t rank) {
  axis = static_cast<int64_t>(AxisOf(axis, static_cast<size_t>(rank)));
  if (axis == 0) return 0;
  return axis < rank - 2 ? axis + 2 : axis - rank + 3;
}

std::vector<int64_t> MovedAxes(std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) axis = MovedAxis(axis, rank);
  return axes;
}

using MaybeAttrs = std::optional<Attrs>;

MaybeAttrs With(Attrs attrs, const char* name, AttrValue value) {
  attrs.Set(name, std::move(value));
  return attrs;
}

MaybeAttrs Named(const Attrs& attrs, const char* name) {
  const bool is_other = attrs.Has("out_layout") && !attrs.String("out_layout").empty();
  if (attrs.String(name) != "NCHW" || is_other) return std::nullopt;
  return With(attrs, name, "NHWC");
}

MaybeAttrs OfAxis(const Attrs& attrs, const char* name, int64_t rank) {
  if (attrs.IsNone(name)) return std::nullopt;
  if (!attrs.Get(name).is_list()) return With(attrs, name, MovedAxis(attrs.Int(name), rank));
  return With(attrs, name, AttrValue::Ints(MovedAxes(attrs.Ints(name), rank)));
}

MaybeAttrs Reduction(const Attrs& attrs, const char* name, int64_t rank, bool is_ordered) {
  std::vector<int64_t> axes = attrs.Ints(name);
  if (axes.empty() || attrs.Bool("exclude") || rank != kMinChannelsRank) return std::nullopt;
  for (int64_t& axis : axes) axis = static_cast<int64_t>(AxisOf(axis, kMinChannelsRank));
  std::sort(axes.begin(), axes.end());
  std::vector<int64_t> moved = MovedAxes(axes, rank);
  if (is_ordered && !std::is_sorted(moved.begin(), moved.end())) return std::nullopt;
  std::sort(moved.begin(), moved.end());
  // Without keepdims the remaining axes must keep their order, so either height and width are
  // reduced together, or only the channels.
  const bool keeps_order = moved == std::vector<int64_t>{1, 2} || moved == std::vector<int64_t>{3};
  if (!attrs.Bool("keepdims") && !keeps_order) return std::nullopt;
  return With(attrs, name, AttrValue::Ints(moved));
}

MaybeAttrs PerAxis(const Attrs& attrs, const char* name, int64_t rank) {
  const AttrValue& given = attrs.Get(name);
  if (!given.is_list()) return std::nullopt;
  const auto& entries = std::get<std::vector<AttrValue>>(given.value);
  if (entries.size() != static_cast<size_t>(rank)) return std::nullopt;
  std::vector<AttrValue> moved;
  for (int64_t axis : ToChannelsLast(rank)) moved.push_back(entries[static_cast<size_t>(axis)]);
  return With(attrs, name, AttrValue(std::move(moved)));
}

MaybeAttrs SliceLast(const Attrs& attrs, const char* name, int64_t rank) {
  std::vector<int64_t> axes = attrs.Ints(name);
  if (attrs.IsNone(name)) {
    for (size_t d = 0; d < attrs.Ints("begin").size(); ++d) axes.push_back(static_cast<int64_t>(d));
  }
  return With(attrs, name, AttrValue::Ints(MovedAxes(std::move(axes), rank)));
}

// Attributes of a reshape that splits or joins channels. It must keep N, H and W.
MaybeAttrs Reshape(const Shape& from, const Shape& to) {
  if (from.front() != to.front() || !std::equal(from.end() - 2, from.end(), to.end() - 2)) {
    return std::nullopt;
  }
  std::vector<int64_t> shape;
  for (int64_t axis : ToChannelsLast(static_cast<int64_t>(to.size()))) {
    shape.push_back(to[static_cast<size_t>(axis)]);
  }
  return Attrs{{"newshape", AttrValue::Ints(shape)}, {"allowzero", true}};
}

// Attributes of a transpose that permutes channels only.
MaybeAttrs Transpose(const Attrs& attrs, int rank) {
  const absl::StatusOr<std::vector<int>> axes = TransposeAxes(attrs, rank, 1);
  if (!axes.ok()) return std::nullopt;
  std::vector<int64_t> moved(axes->size());
  for (size_t i = 0; i < moved.size(); ++i) {
    moved[static_cast<size_t>(MovedAxis(static_cast<int64_t>(i), rank))] =
        MovedAxis((*axes)[i], rank);
  }
  if (moved[0] != 0 || moved[1] != 1 || moved[2] != 2) return std::nullopt;
  return Attrs{{"axes", AttrValue::Ints(moved)}};
}

// True if every input that does not follow data has one element, which broadcasts to any layout.
bool OthersAreScalars(const Graph& graph, const OpDef& op, const Node& node) {
  for (size_t k = 1; k < node.inputs.size(); ++k) {
    if (!FollowsData(graph, op, node, k) && graph.type(node.inputs[k]).num_elements() != 1) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<int64_t> ToChannelsLast(int64_t rank) {
  std::vector<int64_t> axes = {0, rank - 2, rank - 1};
  for (int64_t channel = 1; channel < rank - 2; ++channel) axes.push_back(channel);
  return axes;
}

std::vector<int64_t> FromChannelsLast(int64_t rank) {
  std::vector<int64_t> axes = {0};
  for (int64_t channel = 3; channel < rank; ++channel) axes.push_back(channel);
  axes.insert(axes.end(), {1, 2});
  return axes;
}

std::optional<Attrs> ChannelsLastAttrs(const Graph& graph, const OpDef& op, const Node& node) {
  const LayoutTrait& layout = op.traits.layout;
  if (node.inputs.empty()) return std::nullopt;
  const Shape &data = graph.type(node.inputs[0]).shape, &out = graph.type(node.outputs[0]).shape;
  const auto rank = static_cast<int>(data.size());
  const bool has_channels = rank >= kMinChannelsRank,
             gives_channels = out.size() >= static_cast<size_t>(kMinChannelsRank);
  switch (layout.rule) {
    case LayoutRule::kFixed:
      return std::nullopt;
    case LayoutRule::kNamed:
      return Named(node.attrs, layout.attr);
    case LayoutRule::kElementwise:
      return gives_channels ? MaybeAttrs(node.attrs) : std::nullopt;
    case LayoutRule::kAxis:
      return has_channels ? OfAxis(node.attrs, layout.attr, rank) : std::nullopt;
    case LayoutRule::kReduction:
    case LayoutRule::kOrderedReduction:
      return OthersAreScalars(graph, op, node)
                 ? Reduction(node.attrs, layout.attr, rank,
                             layout.rule == LayoutRule::kOrderedReduction)
                 : std::nullopt;
    case LayoutRule::kPerAxis:
      return has_channels ? PerAxis(node.attrs, layout.attr, rank) : std::nullopt;
    case LayoutRule::kSlice:
      return has_channels ? SliceLast(node.attrs, layout.attr, rank) : std::nullopt;
    case LayoutRule::kReshape:
      return has_channels && gives_channels ? Reshape(data, out) : std::nullopt;
    case LayoutRule::kTranspose:
      return has_channels ? Transpose(node.attrs, rank) : std::nullopt;
  }
  return std::nullopt;
}

bool FollowsData(const Graph& graph, const OpDef& op, const Node& node, size_t k) {
  const int rank = graph.type(node.inputs[k]).rank();
  if (op.traits.layout.rule == LayoutRule::kElementwise) {
    return rank <= graph.type(node.outputs[0]).rank();
  }
  return k == 0 ||
         (op.traits.layout.rule != LayoutRule::kNamed && rank == graph.type(node.inputs[0]).rank());
}

}  // namespace kiln
