// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/op_queries.h"

#include "absl/strings/match.h"
#include "compiler/ops/axes.h"

namespace kiln {
namespace {

// The letters that kernel_layout stands for. The default of transposed convolutions,
// OI…, means IO… in Relay.
std::string KernelLayoutOf(const Node& node, Channels channels) {
  std::string kernel = node.attrs.String("kernel_layout");
  if (channels == Channels::kTransposedLayouts && absl::StartsWith(kernel, "OI")) {
    kernel.replace(0, 2, "IO");
  }
  return kernel;
}

std::optional<ChannelAxes> FromLayouts(const Graph& graph, const Node& node,
                                       const OpTraits& traits) {
  const size_t output = node.attrs.String("data_layout").find('C'),
               weight = KernelLayoutOf(node, traits.channels).find('O');
  if (output == std::string::npos || weight == std::string::npos) return std::nullopt;
  ChannelAxes axes;
  axes.output = static_cast<int64_t>(output);
  const Shape& of_weight = graph.type(node.inputs[static_cast<size_t>(traits.weight)]).shape;
  // O may have fewer entries than the output has channels. It then is the channels of data
  // (depthwise) or the output channels of one group (transposed).
  if (of_weight[weight] == graph.type(node.outputs[0]).shape[output]) {
    axes.weight = static_cast<int64_t>(weight);
  }
  return axes;
}

}  // namespace

const OpTraits* TraitsOf(const Node& node) {
  return node.is_group() ? nullptr : &FindOp(node.op->name)->traits;
}

const Node* ProducerOf(const Graph& graph, ValueId value) {
  const NodeId node = graph.value(value).node;
  return node == kNoId ? nullptr : &graph.node(node);
}

const Node* ProducerIf(const Graph& graph, ValueId value, absl::string_view op) {
  const Node* node = ProducerOf(graph, value);
  return node != nullptr && node->op_name() == op ? node : nullptr;
}

std::optional<double> ScalarOf(const Graph& graph, ValueId value) {
  if (!graph.is_constant(value) || graph.type(value).num_elements() != 1) return std::nullopt;
  return graph.value(value).constant.AsDouble(0);
}

Parts PartsOf(const Node& node) {
  const OpTraits* traits = TraitsOf(node);
  return traits == nullptr ? Parts::kNone : traits->parts;
}

Arithmetic ArithmeticOf(const Node& node) {
  const OpTraits* traits = TraitsOf(node);
  return traits == nullptr ? Arithmetic::kOther : traits->arithmetic;
}

bool Reshapes(const Node& node) {
  const OpTraits* traits = TraitsOf(node);
  return traits != nullptr && traits->view == View::kReshaped;
}

bool IsView(const Graph& graph, const Node& node) {
  return Reshapes(node) && !graph.is_constant(node.inputs[0]);
}

bool IsByRows(const Graph& graph, const Node& node) {
  const OpTraits* traits = TraitsOf(node);
  return traits != nullptr && traits->by_rows != nullptr && traits->by_rows(graph, node);
}

bool MovesRows(const Graph& graph, const Node& node) {
  const OpTraits* traits = TraitsOf(node);
  if (traits == nullptr || traits->layout.rule != LayoutRule::kTranspose) return false;
  const int rank = graph.type(node.outputs[0]).rank();
  const absl::StatusOr<std::vector<int>> axes = TransposeAxes(node.attrs, rank, 1);
  return axes.ok() && rank > 0 && axes->back() == rank - 1;
}

std::optional<ChannelAxes> ChannelAxesOf(const Graph& graph, const Node& node) {
  const OpTraits* traits = TraitsOf(node);
  if (traits == nullptr) return std::nullopt;
  switch (traits->channels) {
    case Channels::kNone:
      return std::nullopt;
    case Channels::kLayouts:
    case Channels::kTransposedLayouts:
      return FromLayouts(graph, node, *traits);
    case Channels::kRows:
      return ChannelAxes{.output = graph.type(node.outputs[0]).rank() - 1, .weight = 0};
  }
  return std::nullopt;
}

}  // namespace kiln
