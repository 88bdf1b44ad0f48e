// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/constant_folder.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/base/status.h"

namespace kiln::frontend {
namespace {

// Elements that the new nodes may read, and the results have, together.
constexpr int64_t kMaxFoldedElements = 1 << 16;

}  // namespace

bool ConstantFolder::IsFixed(ValueId value) const {
  const Value& v = graph_.value(value);
  return v.kind == ValueKind::kConstant ||
         (v.kind == ValueKind::kNodeOutput && fixed_[static_cast<size_t>(v.node)]);
}

Graph ConstantFolder::ConeOf(const std::vector<ValueId>& values) const {
  std::set<NodeId> nodes;
  for (std::vector<ValueId> open = values; !open.empty();) {
    const Value& v = graph_.value(open.back());
    open.pop_back();
    if (v.kind != ValueKind::kNodeOutput || !nodes.insert(v.node).second) continue;
    const Node& node = graph_.node(v.node);
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  Graph cone;
  std::map<ValueId, ValueId> inside;
  for (NodeId id : nodes) {
    Node copy = graph_.node(id);
    for (ValueId& input : copy.inputs) {
      const auto [it, is_new] = inside.emplace(input, kNoId);
      if (is_new) it->second = cone.AddConstant(graph_.value(input).constant);
      input = it->second;
    }
    const std::vector<ValueId> outputs = std::exchange(copy.outputs, {});
    std::vector<TensorType> types;
    for (ValueId output : outputs) types.push_back(graph_.type(output));
    const NodeId added = cone.AddNode(std::move(copy), types);
    for (size_t i = 0; i < outputs.size(); ++i) inside[outputs[i]] = cone.node(added).outputs[i];
  }
  for (ValueId value : values) cone.outputs.push_back(inside.at(value));
  return cone;
}

absl::Status ConstantFolder::Fold(const std::vector<ValueId*>& values) {
  const size_t first_new = fixed_.size();
  if (first_new == graph_.nodes.size()) return absl::OkStatus();
  int64_t elements = 0;
  while (fixed_.size() < graph_.nodes.size()) {
    const Node& node = graph_.nodes[fixed_.size()];
    for (ValueId v : node.inputs)
      elements += std::min(graph_.type(v).num_elements(), kMaxFoldedElements + 1);
    // Weights stay quantised: integer-products wants them so.
    fixed_.push_back(
        node.op_name() != "qnn.dequantize" &&
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return IsFixed(v); }));
  }
  std::vector<ValueId*> places;
  for (ValueId* value : values) {
    if (*value == kNoId) continue;
    const Value& v = graph_.value(*value);
    const bool is_new =
        v.kind == ValueKind::kNodeOutput && static_cast<size_t>(v.node) >= first_new;
    if (!is_new || !IsFixed(*value)) continue;
    elements += std::min(graph_.type(*value).num_elements(), kMaxFoldedElements + 1);
    places.push_back(value);
  }
  if (places.empty() || elements > kMaxFoldedElements) return absl::OkStatus();
  std::vector<ValueId> fixed;
  for (ValueId* place : places) fixed.push_back(*place);
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, evaluate_(ConeOf(fixed)));
  for (size_t i = 0; i < places.size(); ++i) *places[i] = graph_.AddConstant(tensors[i]);
  return absl::OkStatus();
}

}  // namespace kiln::frontend
