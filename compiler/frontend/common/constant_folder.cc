// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/constant_folder.h"

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/base/status.h"

namespace kiln::frontend {
namespace {

// Elements that are read and computed, all together.
constexpr int64_t kMaxFoldedElements = 1 << 16;

}  // namespace

bool ConstantFolder::IsFixed(ValueId value) const {
  const Value& v = graph_.value(value);
  return v.kind == ValueKind::kConstant ||
         (v.kind == ValueKind::kNodeOutput && fixed_.contains(v.node));
}

Graph ConstantFolder::Slice(absl::Span<const ValueId> outputs) const {
  std::set<NodeId> needed;
  std::vector<ValueId> open(outputs.begin(), outputs.end());
  while (!open.empty()) {
    const Value& v = graph_.value(open.back());
    open.pop_back();
    if (v.kind != ValueKind::kNodeOutput || !needed.insert(v.node).second) continue;
    const std::vector<ValueId>& inputs = graph_.node(v.node).inputs;
    open.insert(open.end(), inputs.begin(), inputs.end());
  }
  Graph slice;
  std::map<ValueId, ValueId> ids;
  for (NodeId id : needed) {  // ascending, so topological
    Node node = graph_.node(id);
    for (ValueId& input : node.inputs) {
      auto [it, is_new] = ids.emplace(input, kNoId);
      if (is_new) it->second = slice.AddConstant(graph_.value(input).constant);
      input = it->second;
    }
    const std::vector<ValueId> old_outputs = node.outputs;
    std::vector<TensorType> types;
    for (ValueId output : old_outputs) types.push_back(graph_.type(output));
    node.outputs.clear();
    const NodeId added = slice.AddNode(std::move(node), types);
    for (size_t i = 0; i < old_outputs.size(); ++i) {
      ids[old_outputs[i]] = slice.node(added).outputs[i];
    }
  }
  for (ValueId output : outputs) slice.outputs.push_back(ids.at(output));
  return slice;
}

absl::Status ConstantFolder::Fold(absl::Span<ValueId> outputs) {
  bool all_fixed = true;
  int64_t elements = 0;
  const NodeId end = static_cast<NodeId>(graph_.nodes.size());
  const bool any_new = next_node_ < end;
  for (; next_node_ < end; ++next_node_) {
    const Node& node = graph_.node(next_node_);
    const bool fixed =
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return IsFixed(v); });
    for (ValueId v : node.inputs) {
      elements = std::min(elements + graph_.type(v).num_elements(), kMaxFoldedElements + 1);
    }
    if (fixed) fixed_.insert(next_node_);
    all_fixed &= fixed;
  }
  std::vector<ValueId> computed;
  std::vector<size_t> places;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == kNoId || graph_.value(outputs[i]).kind != ValueKind::kNodeOutput) continue;
    elements = std::min(elements + graph_.type(outputs[i]).num_elements(), kMaxFoldedElements + 1);
    computed.push_back(outputs[i]);
    places.push_back(i);
  }
  if (!any_new || !all_fixed || computed.empty() || elements > kMaxFoldedElements) {
    return absl::OkStatus();
  }
  for (ValueId value : computed) {
    if (!IsFixed(value)) return absl::OkStatus();
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, evaluate_(Slice(computed)));
  for (size_t k = 0; k < places.size(); ++k) {
    outputs[places[k]] = graph_.AddConstant(tensors[k]);
  }
  return absl::OkStatus();
}

}  // namespace kiln::frontend
