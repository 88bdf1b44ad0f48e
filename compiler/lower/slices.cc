// SPDX-License-Identifier: Apache-2.0
// From the last concatenation to the first, so that the place of a result is known when its parts
// get theirs.
#include "compiler/lower/slices.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/graph/external_node.h"

namespace kiln {
namespace {

// Shorter runs of memory cost more in the functions that read and write them than a copy does: a
// cache line, or a word where memory is what is short.
constexpr int64_t kMinRunBytes = 64, kMinFirmwareRunBytes = 4;

class SliceFinder {
 public:
  SliceFinder(const Graph& graph, const Target& target, std::vector<int64_t> scratch_bytes)
      : graph_(graph),
        is_baremetal_(target.is_baremetal()),
        scratch_bytes_(std::move(scratch_bytes)),
        consumers_(graph.Consumers()),
        slices_(graph) {}

  Slices Run() && {
    scratch_bytes_.resize(graph_.nodes.size());
    if (is_baremetal_) peak_bytes_ = PeakBytes();
    for (NodeId id = static_cast<NodeId>(graph_.nodes.size()) - 1; id >= 0; --id) {
      const Node& node = graph_.node(id);
      if (node.op_name() == "concatenate" && Elements(node.outputs[0]) > 0) Concatenate(id);
    }
    return std::move(slices_);
  }

 private:
  int64_t Elements(ValueId value) const { return graph_.type(value).num_elements(); }

  void Concatenate(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId result = node.outputs[0];
    if (JoinsParts(node)) return slices_.SetCopies(id, {});
    const Slice into = slices_.Of(result);
    std::vector<PartCopy> copies;
    bool any = slices_.IsPart(result);
    ForEachInput(node, [&](ValueId part, int64_t begin, size_t axis) {
      const Slice at = {into.whole, into.first + begin * into.strides[axis], into.strides};
      if (Place(part, at)) {
        any = true;
      } else {
        copies.push_back({part, at});
      }
    });
    if (any) slices_.SetCopies(id, std::move(copies));
  }

  // Calls f(input, where it begins along the axis, axis) for every input that has elements.
  template <typename F>
  void ForEachInput(const Node& node, F f) const {
    const int64_t rank = graph_.type(node.outputs[0]).rank();
    const int64_t given = node.attrs.Int("axis");
    const size_t axis = static_cast<size_t>(given < 0 ? given + rank : given);
    int64_t begin = 0;
    for (ValueId input : node.inputs) {
      if (Elements(input) == 0) continue;
      f(input, begin, axis);
      begin += graph_.type(input).shape[axis];
    }
  }

  // Whether the inputs, in the places that a later concatenation gave them, are the result already;
  // it becomes a part beside them then.
  bool JoinsParts(const Node& node) {
    std::optional<Slice> first;
    bool joined = true;
    ForEachInput(node, [&](ValueId part, int64_t begin, size_t axis) {
      const Slice at = slices_.Of(part);
      joined = joined && slices_.IsPart(part);
      if (!first.has_value()) first = at;
      joined = joined && at == Slice{first->whole, first->first + begin * first->strides[axis],
                                     first->strides};
    });
    return joined && Place(node.outputs[0], *first);
  }

  // Makes `value`, and all that are views of it, the slice; false if it cannot be or had better
  // not.
  bool Place(ValueId value, const Slice& at) {
    const std::optional<std::vector<ValueId>> views = MovableViews(value);
    const int64_t run = ContiguousElements(graph_.type(value).shape, at.strides);
    const bool contiguous = run == Elements(value);
    if (!views.has_value() || (views->size() > 1 && !contiguous)) return false;
    const int64_t run_bytes = run * graph_.type(value).dtype.bytes();
    if (!contiguous && run_bytes < (is_baremetal_ ? kMinFirmwareRunBytes : kMinRunBytes)) {
      return false;
    }
    for (ValueId view : *views) {
      Slice slice = at;
      if (view != value) slice.strides = RowMajorStrides(graph_.type(view).shape);
      slices_.SetPart(view, std::move(slice));
    }
    if (!is_baremetal_) return true;
    const int64_t peak_bytes = PeakBytes();
    if (peak_bytes <= peak_bytes_) {
      peak_bytes_ = peak_bytes;
      return true;
    }
    for (ValueId view : *views) slices_.Erase(view);
    return false;
  }

  // The value and its views, in both directions; nothing if one of them must stay where it is.
  std::optional<std::vector<ValueId>> MovableViews(ValueId value) const {
    std::vector<ValueId> views;
    std::set<ValueId> seen = {value};
    for (std::vector<ValueId> open = {value}; !open.empty();) {
      const ValueId view = open.back();
      open.pop_back();
      if (!IsMovable(view)) return std::nullopt;
      views.push_back(view);
      const Node& producer = graph_.node(graph_.value(view).node);
      if (IsView(graph_, producer) && seen.insert(producer.inputs[0]).second) {
        open.push_back(producer.inputs[0]);
      }
      for (NodeId reader : consumers_[static_cast<size_t>(view)]) {
        const Node& node = graph_.node(reader);
        if (IsView(graph_, node) && seen.insert(node.outputs[0]).second) {
          open.push_back(node.outputs[0]);
        }
      }
    }
    return views;
  }

  bool IsMovable(ValueId value) const {
    const auto is_external = [&](NodeId id) { return !ExternalCompiler(graph_.node(id)).empty(); };
    const std::vector<NodeId>& readers = consumers_[static_cast<size_t>(value)];
    return graph_.value(value).kind == ValueKind::kNodeOutput &&
           !is_external(graph_.value(value).node) && !slices_.IsPart(value) &&
           std::find(graph_.outputs.begin(), graph_.outputs.end(), value) == graph_.outputs.end() &&
           std::none_of(readers.begin(), readers.end(), is_external);
  }

  // How many elements lie behind each other.
  static int64_t ContiguousElements(const Shape& shape, const Shape& strides) {
    int64_t run = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      if (shape[i] != 1 && strides[i] != run) break;
      run *= shape[i];
    }
    return run;
  }

  // Most bytes alive at once of what lies between functions, one node at a time.
  int64_t PeakBytes() const {
    struct Life {
      size_t first, last;
      bool is_callers = false;
    };
    std::map<ValueId, Life> lives;
    const size_t end = graph_.nodes.size();
    const auto touch = [&](ValueId value, size_t at) {
      if (graph_.is_constant(value)) return;
      value = Memory(value);
      const auto [it, is_new] = lives.try_emplace(value, Life{at, at});
      it->second.first = std::min(it->second.first, at);
      it->second.last = std::max(it->second.last, at);
    };
    for (size_t i = 0; i < end; ++i) {
      for (ValueId value : graph_.nodes[i].inputs) touch(value, i);
      for (ValueId value : graph_.nodes[i].outputs) touch(value, i);
    }
    for (const auto* values : {&graph_.inputs, &graph_.outputs}) {
      for (ValueId value : *values) {
        touch(value, 0);
        if (!graph_.is_constant(value)) lives.at(Memory(value)).is_callers = true;
      }
    }
    std::vector<int64_t> change(end + 1, 0);
    for (const auto& [value, life] : lives) {
      if (life.is_callers) continue;
      change[life.first] += graph_.type(value).num_bytes();
      change[life.last + 1] -= graph_.type(value).num_bytes();
    }
    int64_t alive = 0, peak = 0;
    for (size_t i = 0; i < end; ++i) {
      alive += change[i];
      peak = std::max(peak, alive + scratch_bytes_[i]);
    }
    return peak;
  }

  // The value whose memory holds `value`.
  ValueId Memory(ValueId value) const {
    for (;;) {
      value = slices_.Of(value).whole;
      const Value& v = graph_.value(value);
      if (v.kind != ValueKind::kNodeOutput || !IsView(graph_, graph_.node(v.node))) return value;
      value = graph_.node(v.node).inputs[0];
    }
  }

  const Graph& graph_;
  const bool is_baremetal_;
  std::vector<int64_t> scratch_bytes_;  // by node
  const std::vector<std::vector<NodeId>> consumers_;
  Slices slices_;
  int64_t peak_bytes_ = 0;
};

}  // namespace

Slice Slices::Of(ValueId value) const {
  const auto found = slice_of_.find(value);
  if (found != slice_of_.end()) return found->second;
  return {value, 0, RowMajorStrides(graph_.type(value).shape)};
}

const std::vector<PartCopy>* Slices::copies(NodeId concatenation) const {
  const auto found = copies_.find(concatenation);
  return found == copies_.end() ? nullptr : &found->second;
}

bool IsView(const Graph& graph, const Node& node) {
  return node.op_name() == "reshape" && !graph.is_constant(node.inputs[0]);
}

Slices FindSlices(const Graph& graph, const Target& target, std::vector<int64_t> scratch_bytes) {
  return SliceFinder(graph, target, std::move(scratch_bytes)).Run();
}

}  // namespace kiln
