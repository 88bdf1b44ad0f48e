// SPDX-License-Identifier: Apache-2.0
// Visits concatenations from the last to the first, so that the place of a result is known before
// its parts get theirs.
#include "compiler/lower/slices.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/graph/external_node.h"
#include "compiler/lower/live_bytes.h"
#include "compiler/lower/lives.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/op_queries.h"

namespace kiln {
namespace {

// Minimum size of contiguous runs: a cache line, or a word if memory is scarce. Shorter runs slow
// the functions that read and write them down by more than a copy costs.
constexpr int64_t kMinRunBytes = 64, kMinFirmwareRunBytes = 4;

class SliceFinder {
 public:
  SliceFinder(const Graph& graph, const Target& target, std::vector<int64_t> scratch_bytes)
      : graph_(graph),
        is_baremetal_(target.is_baremetal()),
        consumers_(graph.Consumers()),
        must_stay_(graph.values.size(), false),
        slices_(graph),
        live_(graph.nodes.size()) {
    scratch_bytes.resize(graph.nodes.size());
    if (is_baremetal_) CountLives(scratch_bytes);
    for (ValueId output : graph.outputs) must_stay_[static_cast<size_t>(output)] = true;
    for (const Node& node : graph.nodes) {
      if (ExternalCompiler(node).empty()) continue;
      for (const auto* values : {&node.inputs, &node.outputs}) {
        for (ValueId value : *values) must_stay_[static_cast<size_t>(value)] = true;
      }
    }
  }

  Slices Run() && {
    for (NodeId id = static_cast<NodeId>(graph_.nodes.size()) - 1; id >= 0; --id) {
      const Node& node = graph_.node(id);
      if (PartsOf(node) == Parts::kConcatenated && Elements(node.outputs[0]) > 0) Concatenate(id);
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

  // Calls f(input, its begin along the axis, axis) for every input that has elements.
  template <typename F>
  void ForEachInput(const Node& node, F f) const {
    const size_t axis = AxisOf(node.attrs.Int("axis"), graph_.type(node.outputs[0]).shape.size());
    int64_t begin = 0;
    for (ValueId input : node.inputs) {
      if (Elements(input) == 0) continue;
      f(input, begin, axis);
      begin += graph_.type(input).shape[axis];
    }
  }

  // True if the inputs already form the result in the places that a later concatenation gave them.
  // The result then becomes a part too.
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

  // Makes `value` and all its views the slice `at`. Returns false if this is impossible or not
  // worthwhile.
  bool Place(ValueId value, const Slice& at) {
    const std::optional<std::vector<ValueId>> views = MovableViews(value);
    const int64_t run = ContiguousElements(graph_.type(value).shape, at.strides);
    const bool contiguous = run == Elements(value);
    if (!views.has_value() || (views->size() > 1 && !contiguous)) return false;
    const int64_t run_bytes = run * graph_.type(value).dtype.bytes();
    if (!contiguous && run_bytes < (is_baremetal_ ? kMinFirmwareRunBytes : kMinRunBytes)) {
      return false;
    }
    const ValueId part = Memory(value);
    for (ValueId view : *views) {
      Slice slice = at;
      if (view != value) slice.strides = RowMajorStrides(graph_.type(view).shape);
      slices_.SetPart(view, std::move(slice));
    }
    if (!is_baremetal_) return true;
    const ValueId whole = Memory(value);
    const int64_t peak_bytes = live_.peak();
    const Life of_part = lives_.at(part), of_whole = lives_.at(whole);
    MoveMemory(part, whole);
    if (live_.peak() <= peak_bytes) return true;
    AddLife(whole, lives_.at(whole), -1);
    for (const auto& [memory, life] : {std::pair{part, of_part}, std::pair{whole, of_whole}}) {
      AddLife(memory, life, 1);
      lives_[memory] = life;
    }
    for (ValueId view : *views) slices_.Erase(view);
    return false;
  }

  // Returns the value and its views, in both directions. Returns nothing if one of them must not
  // move.
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
    return graph_.value(value).kind == ValueKind::kNodeOutput &&
           !must_stay_[static_cast<size_t>(value)] && !slices_.IsPart(value);
  }

  // Returns the number of elements in a contiguous run.
  static int64_t ContiguousElements(const Shape& shape, const Shape& strides) {
    int64_t run = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      if (shape[i] != 1 && strides[i] != run) break;
      run *= shape[i];
    }
    return run;
  }

  // Records the lifetimes of the memory between functions, by node, and the scratch memory of the
  // nodes.
  void CountLives(const std::vector<int64_t>& scratch_bytes) {
    lives_ = FindLives(graph_, slices_);
    for (size_t i = 0; i < scratch_bytes.size(); ++i) live_.Add(i, i, scratch_bytes[i]);
    for (const auto& [memory, life] : lives_) AddLife(memory, life, 1);
  }

  // Adds the bytes of a memory to the live bytes, or removes them if `sign` is -1.
  void AddLife(ValueId memory, const Life& life, int64_t sign) {
    if (!life.is_callers) live_.Add(life.first, life.last, sign * graph_.type(memory).num_bytes());
  }

  // Moves the values in `part` to `whole`, and extends the lifetime of `whole` to cover them.
  void MoveMemory(ValueId part, ValueId whole) {
    Life& into = lives_.at(whole);
    const auto of = lives_.find(part);
    AddLife(part, of->second, -1);
    AddLife(whole, into, -1);
    into.first = std::min(into.first, of->second.first);
    into.last = std::max(into.last, of->second.last);
    AddLife(whole, into, 1);
    lives_.erase(of);
  }

  ValueId Memory(ValueId value) const { return MemoryOf(graph_, slices_, value); }

  const Graph& graph_;
  const bool is_baremetal_;
  const std::vector<std::vector<NodeId>> consumers_;
  std::vector<bool> must_stay_;  // by value: outputs of the model, and values of external subgraphs
  Slices slices_;
  // These are only used on bare-metal targets.
  std::map<ValueId, Life> lives_;  // keyed by the value that owns the memory
  LiveBytes live_;                 // times are nodes
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

Slices FindSlices(const Graph& graph, const Target& target, std::vector<int64_t> scratch_bytes) {
  return SliceFinder(graph, target, std::move(scratch_bytes)).Run();
}

}  // namespace kiln
