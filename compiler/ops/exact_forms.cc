// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/exact_forms.h"

#include "absl/strings/string_view.h"
#include "compiler/base/status.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/op_queries.h"

namespace kiln {
namespace {

// The input of the node that makes the value if that node's operator is `op`; else kNoId.
ValueId ArgumentOf(const Graph& graph, ValueId value, absl::string_view op) {
  if (value == kNoId) return kNoId;
  const Node* node = ProducerIf(graph, value, op);
  return node == nullptr ? kNoId : node->inputs[0];
}

// Adds `op` of x and returns its output; nothing unless x has the type of the node's output and
// elements of 32 or 64 bits.
absl::StatusOr<std::vector<ValueId>> InPlaceOf(Graph& graph, const Node& node,
                                               const std::vector<ValueId>& inputs, ValueId x,
                                               absl::string_view op) {
  const TensorType type = graph.type(x);
  if (!type.dtype.is_float() || type.dtype.bits < 32) return std::vector<ValueId>();
  // A scalar input of a higher rank would have given the result that rank.
  for (const ValueId input : inputs) {
    if (graph.type(input).rank() > type.rank()) return std::vector<ValueId>();
  }
  KILN_ASSIGN_OR_RETURN(const ValueId y, AddOp(graph, op, {x}, {}, node.source));
  return std::vector<ValueId>{y};
}

// Returns x if the value is log(1 + exp(-|x|)); else kNoId.
ValueId ArgumentOfLogOfSum(const Graph& graph, ValueId value) {
  const ValueId sum = ArgumentOf(graph, value, "log");
  const Node* add = sum == kNoId ? nullptr : ProducerIf(graph, sum, "add");
  if (add == nullptr) return kNoId;
  for (const size_t k : {0, 1}) {
    if (ScalarOf(graph, add->inputs[k]) != 1) continue;
    const ValueId exponent = ArgumentOf(graph, add->inputs[1 - k], "exp");
    return ArgumentOf(graph, ArgumentOf(graph, exponent, "negative"), "abs");
  }
  return kNoId;
}

}  // namespace

absl::StatusOr<std::vector<ValueId>> AsExpm1(Graph& graph, const Node& node,
                                             const std::vector<ValueId>& inputs) {
  const bool subtracts = node.op_name() == "subtract";
  for (const size_t k : {0, 1}) {
    if (subtracts && k == 1) break;
    const ValueId x = ArgumentOf(graph, inputs[k], "exp");
    if (x == kNoId || ScalarOf(graph, inputs[1 - k]) != (subtracts ? 1 : -1)) continue;
    return InPlaceOf(graph, node, inputs, x, "expm1");
  }
  return std::vector<ValueId>();
}

absl::StatusOr<std::vector<ValueId>> AsExactSum(Graph& graph, const Node& node,
                                                const std::vector<ValueId>& inputs) {
  for (const size_t k : {0, 1}) {
    const ValueId x = ArgumentOf(graph, inputs[k], "nn.relu");
    if (x == kNoId || ArgumentOfLogOfSum(graph, inputs[1 - k]) != x) continue;
    return InPlaceOf(graph, node, inputs, x, "nn.softplus");
  }
  return AsExpm1(graph, node, inputs);
}

}  // namespace kiln
