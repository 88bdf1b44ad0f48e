// SPDX-License-Identifier: Apache-2.0
#include "compiler/external/dnnl/patterns.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::dnnl {
namespace {

constexpr DType kFloat = DType::Float(32);

absl::Status No(const Node& node, absl::string_view why) {
  return absl::UnimplementedError(absl::StrCat("dnnl: ", node.op_name(), ": ", why));
}

// Checks that all tensors are float32 and have elements.
absl::Status CheckTensors(const Graph& graph, const Node& node) {
  for (const auto* values : {&node.inputs, &node.outputs}) {
    for (ValueId value : *values) {
      const TensorType& type = graph.type(value);
      if (type.dtype != kFloat) {
        return No(node, absl::StrCat("found ", type.dtype.ToString(), ", wanted float32"));
      }
      if (type.num_elements() == 0) return No(node, "found a tensor without elements");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckConv2d(const Graph& graph, const Node& node) {
  const std::string& layout = node.attrs.String("data_layout");
  const std::string& kernel = node.attrs.String("kernel_layout");
  if (layout != "NCHW" && layout != "NHWC") return No(node, absl::StrCat("data_layout ", layout));
  if (kernel != "OIHW" && kernel != "HWIO" && kernel != "OHWI") {
    return No(node, absl::StrCat("kernel_layout ", kernel));
  }
  // Rejects weights of depthwise convolutions with O and I swapped.
  const int64_t channels = graph.type(node.inputs[0]).shape[layout.find('C')];
  const Shape& weight = graph.type(node.inputs[1]).shape;
  if (weight[kernel.find('I')] * node.attrs.Int("groups") != channels) {
    return No(node, "the weight does not have the channels of one group");
  }
  return absl::OkStatus();
}

// The axis of the result that a bias is added along.
size_t ChannelAxis(const Graph& graph, const Node& product) {
  if (product.op_name() == "nn.conv2d") return product.attrs.String("data_layout").find('C');
  return graph.type(product.outputs[0]).shape.size() - 1;
}

// True if `value` is a constant with one element per channel, such as (C, 1, 1) for (N, C, H, W).
bool IsBias(const Graph& graph, const Node& product, ValueId value) {
  const Shape& result = graph.type(product.outputs[0]).shape;
  const Shape& shape = graph.type(value).shape;
  const size_t axis = ChannelAxis(graph, product);
  if (!graph.is_constant(value) || shape.size() > result.size() ||
      NumElements(shape) != result[axis]) {
    return false;
  }
  const size_t missing = result.size() - shape.size();
  return result[axis] == 1 || (axis >= missing && shape[axis - missing] == result[axis]);
}

absl::Status AddOperand(const Graph& graph, const Node& node, ValueId before, Layer& layer) {
  const ValueId other = node.inputs[0] == before ? node.inputs[1] : node.inputs[0];
  if (node.op_name() == "nn.bias_add") {
    const int64_t axis = node.attrs.Int("axis");
    const size_t rank = graph.type(before).shape.size();
    const size_t at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
    if (layer.bias != kNoId || layer.residual != kNoId || node.inputs[0] != before ||
        !graph.is_constant(other) || at != ChannelAxis(graph, *layer.product)) {
      return No(node, "this is not the bias of the channels");
    }
    layer.bias = other;
    return absl::OkStatus();
  }
  if (graph.type(node.outputs[0]) != graph.type(before))
    return No(node, "it broadcasts the result");
  if (layer.bias == kNoId && layer.residual == kNoId && IsBias(graph, *layer.product, other)) {
    layer.bias = other;
    return absl::OkStatus();
  }
  if (layer.residual != kNoId || graph.is_constant(other) ||
      graph.type(other) != graph.type(before)) {
    return No(node, "the operand is neither a bias nor a residual");
  }
  layer.residual = other;
  return absl::OkStatus();
}

absl::Status Check(const Graph& graph, const std::vector<const Node*>& nodes) {
  return ReadLayer(graph, nodes).status();
}

}  // namespace

std::vector<ExternalPattern> Patterns() {
  const auto behind = [](const char* product) -> std::vector<PatternStep> {
    return {{{product}}, {{"nn.bias_add", "add"}, true}, {{"add"}, true}, {{"nn.relu"}, true}};
  };
  return {{"dnnl.conv2d", behind("nn.conv2d"), Check}, {"dnnl.dense", behind("nn.dense"), Check}};
}

absl::StatusOr<Layer> ReadLayer(const Graph& graph, const std::vector<const Node*>& nodes) {
  Layer layer{.product = nodes[0]};
  for (const Node* node : nodes) KILN_RETURN_IF_ERROR(CheckTensors(graph, *node));
  if (graph.is_constant(nodes[0]->inputs[0])) return No(*nodes[0], "the data is constant");
  if (!graph.is_constant(nodes[0]->inputs[1])) return No(*nodes[0], "the weight is no constant");
  if (nodes[0]->op_name() == "nn.conv2d") {
    KILN_RETURN_IF_ERROR(CheckConv2d(graph, *nodes[0]));
  }
  for (size_t i = 1; i < nodes.size(); ++i) {
    if (nodes[i]->op_name() == "nn.relu") {
      layer.relu = true;
    } else {
      KILN_RETURN_IF_ERROR(AddOperand(graph, *nodes[i], nodes[i - 1]->outputs[0], layer));
    }
  }
  return layer;
}

std::vector<int64_t> Padding(const Node& conv2d) {
  const std::vector<int64_t> padding = conv2d.attrs.Ints("padding");
  if (padding.size() == 1) return {padding[0], padding[0], padding[0], padding[0]};
  if (padding.size() == 2) return {padding[0], padding[1], padding[0], padding[1]};
  return padding;
}

}  // namespace kiln::dnnl
