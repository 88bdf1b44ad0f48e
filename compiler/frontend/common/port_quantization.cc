// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/port_quantization.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln::frontend {
namespace {

void SetAttrs(const PortQuantizations& tensors, const std::string& what, Graph& graph) {
  using List = std::vector<AttrValue>;
  List scales, zero_points;
  bool any = false;
  for (const std::optional<PortQuantization>& tensor : tensors) {
    any = any || tensor.has_value();
    scales.emplace_back(tensor.has_value() ? List{tensor->scale} : List());
    zero_points.emplace_back(tensor.has_value() ? List{tensor->zero_point} : List());
  }
  if (!any) return;
  graph.attrs.Set(absl::StrCat(what, "_scales"), AttrValue(std::move(scales)));
  graph.attrs.Set(absl::StrCat(what, "_zero_points"), AttrValue(std::move(zero_points)));
}

// Returns the quantization of a qnn.quantize or qnn.dequantize, whose inputs are data, scale and
// zero point. Absent if the latter two are not scalar constants or if the scale is not positive and
// finite.
std::optional<PortQuantization> QuantizationOf(const Graph& graph, const Node& node) {
  for (size_t i : {1, 2}) {
    if (!graph.is_constant(node.inputs[i])) return std::nullopt;
    if (graph.type(node.inputs[i]).num_elements() != 1) return std::nullopt;
  }
  const PortQuantization q = {graph.value(node.inputs[1]).constant.AsDouble(0),
                              graph.value(node.inputs[2]).constant.AsInt(0)};
  if (!(q.scale > 0) || !std::isfinite(q.scale)) return std::nullopt;
  return q;
}

}  // namespace

void SetPortQuantization(const PortQuantizations& inputs, const PortQuantizations& outputs,
                         Graph& graph) {
  SetAttrs(inputs, "input", graph);
  SetAttrs(outputs, "output", graph);
}

void SetPortQuantizationFromOperators(Graph& graph) {
  std::map<ValueId, std::optional<PortQuantization>> read, made;
  for (const Node& node : graph.nodes) {
    if (node.op_name() == "qnn.quantize") made[node.outputs[0]] = QuantizationOf(graph, node);
    if (node.op_name() != "qnn.dequantize") continue;
    const std::optional<PortQuantization> q = QuantizationOf(graph, node);
    const auto [it, is_new] = read.emplace(node.inputs[0], q);
    if (!is_new && it->second != q) it->second.reset();
  }
  const auto of = [](const std::vector<ValueId>& values, const auto& known) {
    PortQuantizations tensors;
    for (ValueId value : values) {
      const auto it = known.find(value);
      tensors.push_back(it == known.end() ? std::nullopt : it->second);
    }
    return tensors;
  };
  SetPortQuantization(of(graph.inputs, read), of(graph.outputs, made), graph);
}

}  // namespace kiln::frontend
