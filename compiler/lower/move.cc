// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/move.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "compiler/ops/axis_range.h"
#include "compiler/ops/views.h"

namespace kiln {
namespace {

bool AreOneState(const Graph& graph, const std::vector<StatePair>& states, ValueId input,
                 ValueId output) {
  const ValueId old_value = Viewed(graph, input), new_value = Viewed(graph, output);
  return std::any_of(states.begin(), states.end(), [&](const StatePair& pair) {
    return graph.inputs[static_cast<size_t>(pair.input)] == old_value &&
           Viewed(graph, graph.outputs[static_cast<size_t>(pair.output)]) == new_value;
  });
}

loop::Buffer Flat(const TensorType& type, const char* name) {
  return loop::MakeBuffer(name, type.dtype, {type.num_elements()}, loop::BufferScope::kParam);
}

}  // namespace

std::optional<Scheduled> MoveWithin(const Graph& graph, const std::vector<StatePair>& states,
                                    const PendingCall& call) {
  if (states.empty() || call.inputs.size() != 1 || call.outputs.size() != 1) return std::nullopt;
  const ValueId from = call.inputs[0].value;
  const Slice& to = call.outputs[0].at;
  if (call.inputs[0].is_part() || !AreOneState(graph, states, from, to.whole)) return std::nullopt;
  const TensorType& type = graph.type(from);
  const Shape strides = RowMajorStrides(type.shape);
  const std::optional<AxisRange> range = RangeOf(graph, graph.node(call.node));
  if (!range.has_value() || graph.type(to.whole) != type || to.strides != strides) {
    return std::nullopt;
  }
  // Moves contiguous rows. Each moves by the same distance towards the front, so vectors overwrite
  // nothing before it is read.
  const int64_t stride = strides[range->axis];
  const int64_t first = range->begin * stride, length = (range->end - range->begin) * stride,
                row = type.shape[range->axis] * stride;
  if (first < to.first) return std::nullopt;
  const loop::Buffer in = Flat(type, "p0"), out = Flat(type, "out0");
  const loop::Var i = loop::MakeVar("row"), j = loop::MakeVar("i");
  const int64_t rows = row == 0 ? 0 : type.num_elements() / row;
  const loop::Expr at = rows == 1 ? loop::Expr(j) : i * loop::Expr(row) + j;
  loop::Stmt body = loop::MakeStore(out, {at + loop::Expr(to.first)},
                                    loop::MakeLoad(in, {at + loop::Expr(first)}));
  body = loop::MakeFor(j, loop::Expr(0), loop::Expr(length), loop::ForKind::kVectorized, body);
  if (rows != 1) {
    body = loop::MakeFor(i, loop::Expr(0), loop::Expr(rows), loop::ForKind::kSerial, body);
  }
  Scheduled scheduled;
  scheduled.func = {.name = call.call.function,
                    .params = {in, out},
                    .num_inputs = 1,
                    .body = std::move(body),
                    .in_place = true};
  scheduled.in_place = {{0, 0}};
  scheduled.description = "move within a state";
  return scheduled;
}

}  // namespace kiln
