// SPDX-License-Identifier: Apache-2.0
// FoldConstants: nodes whose inputs are all constants are computed, all in one evaluation, and
// become constants.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "compiler/base/status.h"
#include "compiler/graph/external_node.h"
#include "compiler/graph/fixed_nodes.h"
#include "compiler/graph/rewrite.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

// A constant that is larger than this and larger than what it is made of stays a computation:
// broadcast_to of a scalar. Not what weights are made of: schedules pack those that are constants,
// and read others much slower.
constexpr int64_t kMaxGrownBytes = 1 << 20;

bool MayGrow(const Graph& graph, const Node& node) {
  int64_t in = 0, out = 0;
  for (ValueId input : node.inputs) in += graph.type(input).num_bytes();
  for (ValueId output : node.outputs) out += graph.type(output).num_bytes();
  return out <= std::max(in * 2, kMaxGrownBytes);
}

bool IsWeight(const Node& node, size_t input) {
  return !node.is_group() && input < node.op->inputs.size() &&
         node.op->inputs[input].name == "weight";
}

// By value: weights of convolutions and products, and all that they are made of.
std::vector<bool> PartsOfWeights(const Graph& graph) {
  std::vector<bool> is_part(graph.values.size(), false);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool makes_part =
        std::any_of(node->outputs.begin(), node->outputs.end(),
                    [&](ValueId output) { return is_part[static_cast<size_t>(output)]; });
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (makes_part || IsWeight(*node, i)) is_part[static_cast<size_t>(node->inputs[i])] = true;
    }
  }
  return is_part;
}

}  // namespace

absl::StatusOr<Graph> FoldConstants(const Graph& graph, const PassContext& context) {
  const std::vector<bool> is_part_of_weight = PartsOfWeights(graph);
  FixedNodes folds(graph, [&](const Node& node) {
    // An external generator's module runs on the target only.
    return ExternalCompiler(node).empty() &&
           (MayGrow(graph, node) || is_part_of_weight[static_cast<size_t>(node.outputs[0])]);
  });

  // The folded nodes as a graph of their own, whose outputs are what the rest of the graph reads.
  GraphRewriter fixed(graph);
  std::vector<ValueId> wanted;
  std::vector<bool> is_wanted(graph.values.size(), false);
  const auto want = [&](ValueId id) {
    const Value& value = graph.value(id);
    if (value.kind != ValueKind::kNodeOutput || !folds.ContainsNode(value.node)) return;
    if (!is_wanted[static_cast<size_t>(id)]) wanted.push_back(id);
    is_wanted[static_cast<size_t>(id)] = true;
  };
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    if (folds.ContainsNode(id)) {
      fixed.Copy(id);
    } else {
      for (ValueId input : graph.node(id).inputs) want(input);
    }
  }
  for (ValueId output : graph.outputs) want(output);
  if (wanted.empty()) return RemoveDeadNodes(graph);
  Graph constants = fixed.graph();
  constants.outputs.clear();
  for (ValueId id : wanted) constants.outputs.push_back(fixed.Map(id));
  constants.inputs.clear();
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors,
                        context.evaluate(RemoveDeadNodes(constants)));

  GraphRewriter rest(graph);
  for (size_t i = 0; i < wanted.size(); ++i) {
    rest.Replace(wanted[i], rest.graph().AddConstant(tensors[i], graph.value(wanted[i]).name));
  }
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    if (!folds.ContainsNode(id)) rest.Copy(id);
  }
  return std::move(rest).Finish();
}

}  // namespace kiln
