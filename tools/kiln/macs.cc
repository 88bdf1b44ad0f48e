// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/macs.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {
namespace {

// Returns the extent of a data tensor along its channels.
int64_t Channels(const TensorType& type, absl::string_view layout) {
  const size_t at = layout.find('C');
  return at < type.shape.size() ? type.shape[at] : 1;
}

// Returns the extent that a matrix product sums over: the last extent of the first operand, or the
// second to last if the operand is transposed.
int64_t SummedExtent(const Graph& graph, const Node& node) {
  const Shape& shape = graph.type(node.inputs[0]).shape;
  const bool is_transposed = node.attrs.Has("transpose_a") && node.attrs.Bool("transpose_a");
  const size_t from_end = is_transposed ? 2 : 1;
  return shape.size() < from_end ? 1 : shape[shape.size() - from_end];
}

std::string OpNamesOf(const Node& node) {
  if (!node.is_group()) return std::string(node.op_name());
  std::string names;
  for (const Node& inner : node.body->nodes) {
    absl::StrAppend(&names, names.empty() ? "" : " ", inner.op_name());
  }
  return names;
}

}  // namespace

std::optional<int64_t> MacsOfNode(const Graph& graph, const Node& node) {
  if (node.is_group()) {
    std::optional<int64_t> sum;
    for (const Node& inner : node.body->nodes) {
      const std::optional<int64_t> macs = MacsOfNode(*node.body, inner);
      if (macs) sum = sum.value_or(0) + *macs;
    }
    return sum;
  }
  const absl::string_view name = node.op_name();
  const bool is_convolution = absl::StrContains(name, ".conv");
  const bool is_product = absl::EndsWith(name, ".dense") || absl::EndsWith(name, "matmul");
  if (!is_convolution && !is_product) return std::nullopt;
  const TensorType& out = graph.type(node.outputs[0]);
  if (is_product) return out.num_elements() * SummedExtent(graph, node);
  // Each weight of a channel is multiplied with every element of that channel once: with the
  // elements of the output or, for a transposed convolution, of the input.
  const bool is_transposed = absl::EndsWith(name, "_transpose");
  const TensorType& data = is_transposed ? graph.type(node.inputs[0]) : out;
  const int64_t channels = Channels(data, node.attrs.String("data_layout"));
  const int64_t weights = graph.type(node.inputs[1]).num_elements();
  return channels == 0 ? 0 : data.num_elements() * (weights / channels);
}

std::map<std::string, int64_t> MacsOfCalls(const Graph& fused, const std::vector<Call>& calls) {
  std::map<std::string, int64_t> macs;
  // Calls are in the order of the nodes that they compute. A node may have no call or several.
  size_t next = 0;
  for (const Call& call : calls) {
    for (size_t n = next; n < fused.nodes.size(); ++n) {
      const Node& node = fused.nodes[n];
      if (OpNamesOf(node) != call.op_names) continue;
      next = n + 1;
      if (const auto found = MacsOfNode(fused, node)) macs[call.function] += *found;
      break;
    }
  }
  return macs;
}

}  // namespace kiln::tools
