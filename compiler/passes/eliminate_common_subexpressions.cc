// SPDX-License-Identifier: Apache-2.0
// EliminateCommonSubexpressions: merges nodes with the same operator, attributes and inputs,
// and equal small constants.
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/graph/rewrite.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

constexpr int64_t kMaxComparedBytes = 4096;

std::string ConstantKey(const Tensor& tensor) {
  return absl::StrCat(tensor.type().ToString(), ":", tensor.bytes());
}

std::string NodeKey(const Node& node, GraphRewriter& rewriter) {
  std::string key = node.op->name;
  for (const auto& [name, value] : node.attrs.values()) {
    absl::StrAppend(&key, "|", name, "=", value.ToString());
  }
  for (ValueId input : node.inputs) absl::StrAppend(&key, "|%", rewriter.Map(input));
  return key;
}

}  // namespace

absl::StatusOr<Graph> EliminateCommonSubexpressions(const Graph& graph, const PassContext&) {
  GraphRewriter rewriter(graph);
  std::map<std::string, ValueId> constants;
  for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
    if (!graph.is_constant(id) || graph.type(id).num_bytes() > kMaxComparedBytes) continue;
    const auto [it, is_new] = constants.emplace(ConstantKey(graph.value(id).constant), id);
    if (!is_new) rewriter.Replace(id, rewriter.Map(it->second));
  }
  std::map<std::string, NodeId> seen;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const Node& node = graph.node(id);
    if (node.is_group()) {
      rewriter.Copy(id);
      continue;
    }
    const auto [it, is_new] = seen.emplace(NodeKey(node, rewriter), id);
    if (is_new) {
      rewriter.Copy(id);
      continue;
    }
    const Node& first = graph.node(it->second);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      rewriter.Replace(node.outputs[i], rewriter.Map(first.outputs[i]));
    }
  }
  return std::move(rewriter).Finish();
}

}  // namespace kiln
