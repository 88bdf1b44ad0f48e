// SPDX-License-Identifier: Apache-2.0
// WidenStates: a state that is a window over the values that earlier steps have made,
//
//   window = concatenate((state, step), axis=1)
//   state.next = the last places of window along axis 1
//
// is stored as the whole window. Its memory is then that of the concatenation: the rest of the
// window moves within this memory, and the step is written into it. Nothing else is copied.
//
//   state = the last places of window, along axis 1
//   window.next = concatenate((state, step), axis=1)
#include <map>
#include <optional>
#include <vector>

#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/graph/state.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/axis_range.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_queries.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

// The value whose end is the next value of a state.
struct Window {
  ValueId value = kNoId;
  size_t axis = 0;
};

std::optional<Window> WindowOf(const Graph& graph, const StatePair& state) {
  const ValueId input = graph.inputs[static_cast<size_t>(state.input)],
                next = graph.outputs[static_cast<size_t>(state.output)];
  const Node* end = ProducerOf(graph, next);
  if (end == nullptr) return std::nullopt;
  const std::optional<AxisRange> range = RangeOf(graph, *end);
  if (!range.has_value()) return std::nullopt;
  const Window window = {.value = end->inputs[0], .axis = range->axis};
  const Shape& shape = graph.type(window.value).shape;
  const Node* joined = ProducerOf(graph, window.value);
  if (joined == nullptr || PartsOf(*joined) != Parts::kConcatenated || joined->inputs[0] != input ||
      AxisOf(joined->attrs.Int("axis"), shape.size()) != range->axis ||
      range->end != shape[range->axis]) {
    return std::nullopt;
  }
  return window;
}

}  // namespace

absl::StatusOr<Graph> WidenStates(const Graph& graph, const PassContext& context) {
  if (!context.keeps_state) return graph;
  KILN_ASSIGN_OR_RETURN(const std::vector<StatePair> states, StatesOf(graph));
  Graph widened = graph;
  std::map<ValueId, Window> windows;  // by the input of the state
  for (const StatePair& state : states) {
    const std::optional<Window> window = WindowOf(graph, state);
    if (!window.has_value()) continue;
    const ValueId input = graph.inputs[static_cast<size_t>(state.input)];
    windows[input] = *window;
    widened.value(input).type = graph.type(window->value);
    widened.outputs[static_cast<size_t>(state.output)] = window->value;
  }
  if (windows.empty()) return graph;
  // The inputs have new types, and the state of the model is a part of such an input.
  GraphRewriter rewriter(widened);
  for (const auto& [input, window] : windows) {
    const int64_t end = graph.type(window.value).shape[window.axis];
    const int64_t begin = end - graph.type(input).shape[window.axis];
    KILN_ASSIGN_OR_RETURN(
        const ValueId state,
        MakeSlice(rewriter.graph(), rewriter.Map(input), static_cast<int64_t>(window.axis), begin,
                  end, ProducerOf(graph, window.value)->source));
    rewriter.Replace(input, state);
  }
  for (NodeId id = 0; id < static_cast<NodeId>(widened.nodes.size()); ++id) rewriter.Copy(id);
  return std::move(rewriter).Finish();
}

}  // namespace kiln
