// SPDX-License-Identifier: Apache-2.0
// The range is read from the stage that the operator lowers to: out[i, j] = in[i, j + begin].
#include "compiler/ops/axis_range.h"

#include <utility>
#include <vector>

#include "compiler/loop/passes.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/op_queries.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

// Returns c if the index is axes[axis] + c.
std::optional<int64_t> DistanceFrom(const std::vector<loop::Var>& axes, size_t axis,
                                    const loop::Expr& index) {
  loop::LinearForm form;
  int64_t distance = 0;
  if (!loop::AsLinear(index, axes, &form) || !loop::AsInt(form.base, &distance)) {
    return std::nullopt;
  }
  for (size_t d = 0; d < axes.size(); ++d) {
    if (form.coefficients[d] != (d == axis ? 1 : 0)) return std::nullopt;
  }
  return distance;
}

std::optional<loop::Stage> StageOf(const Graph& graph, const Node& node) {
  const loop::Buffer in =
      loop::MakeBuffer("in", graph.type(node.inputs[0]).dtype, graph.type(node.inputs[0]).shape,
                       loop::BufferScope::kParam);
  const loop::Buffer out =
      loop::MakeBuffer("out", graph.type(node.outputs[0]).dtype, graph.type(node.outputs[0]).shape,
                       loop::BufferScope::kParam);
  StageBuilder builder("part", node.attrs, {in}, {out}, {nullptr});
  if (!FindOp(node.op_name())->lower(builder).ok()) return std::nullopt;
  std::vector<loop::Stage> stages = std::move(builder).Finish().stages;
  if (stages.size() != 1) return std::nullopt;
  return std::move(stages[0]);
}

}  // namespace

std::optional<AxisRange> RangeOf(const Graph& graph, const Node& node) {
  const OpTraits* traits = TraitsOf(node);
  if (traits == nullptr || traits->origin != Origin::kMoved || node.inputs.size() != 1 ||
      node.outputs.size() != 1) {
    return std::nullopt;
  }
  const Shape &data = graph.type(node.inputs[0]).shape, &part = graph.type(node.outputs[0]).shape;
  if (data.size() != part.size()) return std::nullopt;
  const std::optional<loop::Stage> stage = StageOf(graph, node);
  const auto* load = stage.has_value() ? stage->value.As<loop::Load>() : nullptr;
  if (load == nullptr || load->index.size() != data.size() || stage->axes.size() != data.size()) {
    return std::nullopt;
  }
  std::vector<loop::Var> axes;
  for (const loop::Axis& axis : stage->axes) axes.push_back(axis.var);
  std::optional<AxisRange> range;
  for (size_t d = 0; d < data.size(); ++d) {
    const std::optional<int64_t> begin = DistanceFrom(axes, d, load->index[d]);
    if (!begin.has_value()) return std::nullopt;
    if (part[d] == data[d]) continue;
    if (range.has_value()) return std::nullopt;
    range = {.axis = d, .begin = *begin, .end = *begin + part[d]};
  }
  return range;
}

}  // namespace kiln
