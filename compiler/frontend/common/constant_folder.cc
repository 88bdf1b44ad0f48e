// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/constant_folder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/base/status.h"

namespace kiln::frontend {
namespace {

// Elements that nodes may read, and the results have, together; operations that computing them may
// take, each of which is some nanoseconds.
constexpr int64_t kMaxFoldedElements = 1 << 16;
constexpr int64_t kMaxFoldedWork = 1 << 24;

}  // namespace

bool ConstantFolder::IsFixed(ValueId value) const {
  const Value& v = graph_.value(value);
  return v.kind == ValueKind::kConstant ||
         (v.kind == ValueKind::kNodeOutput && fixed_[static_cast<size_t>(v.node)]);
}

std::optional<std::set<NodeId>> ConstantFolder::ConeOf(const std::vector<ValueId>& values) const {
  std::set<NodeId> nodes;
  int64_t elements = 0;
  const auto count = [&](ValueId v) {
    elements += std::min(graph_.type(v).num_elements(), kMaxFoldedElements + 1);
  };
  for (ValueId v : values) count(v);
  for (std::vector<ValueId> open = values; !open.empty();) {
    const Value& v = graph_.value(open.back());
    open.pop_back();
    if (v.kind != ValueKind::kNodeOutput || !nodes.insert(v.node).second) continue;
    const Node& node = graph_.node(v.node);
    for (ValueId input : node.inputs) count(input);
    if (elements > kMaxFoldedElements) return std::nullopt;
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  return nodes;
}

Graph ConstantFolder::Part(const std::set<NodeId>& nodes,
                           const std::vector<ValueId>& values) const {
  Graph part;
  std::map<ValueId, ValueId> inside;
  for (NodeId id : nodes) {
    Node copy = graph_.node(id);
    for (ValueId& input : copy.inputs) {
      const auto [it, is_new] = inside.emplace(input, kNoId);
      if (is_new) it->second = part.AddConstant(graph_.value(input).constant);
      input = it->second;
    }
    const std::vector<ValueId> outputs = std::exchange(copy.outputs, {});
    std::vector<TensorType> types;
    for (ValueId output : outputs) types.push_back(graph_.type(output));
    const NodeId added = part.AddNode(std::move(copy), types);
    for (size_t i = 0; i < outputs.size(); ++i) inside[outputs[i]] = part.node(added).outputs[i];
  }
  for (ValueId value : values) part.outputs.push_back(inside.at(value));
  return part;
}

absl::Status ConstantFolder::Fold(const std::vector<ValueId*>& values) {
  const size_t first_new = fixed_.size();
  while (fixed_.size() < graph_.nodes.size()) {
    const Node& node = graph_.nodes[fixed_.size()];
    // Weights stay quantised: integer-products wants them so.
    fixed_.push_back(
        node.op_name() != "qnn.dequantize" &&
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return IsFixed(v); }));
  }
  std::vector<ValueId*> places;
  std::vector<ValueId> fixed;
  for (ValueId* value : values) {
    if (*value == kNoId) continue;
    const Value& v = graph_.value(*value);
    const bool is_new =
        v.kind == ValueKind::kNodeOutput && static_cast<size_t>(v.node) >= first_new;
    if (!is_new || !IsFixed(*value)) continue;
    places.push_back(value);
    fixed.push_back(*value);
  }
  if (places.empty()) return absl::OkStatus();
  const std::optional<std::set<NodeId>> cone = ConeOf(fixed);
  if (!cone.has_value()) return absl::OkStatus();
  const absl::StatusOr<std::vector<Tensor>> tensors = evaluate_(Part(*cone, fixed), kMaxFoldedWork);
  if (absl::IsResourceExhausted(tensors.status())) {
    // So that what is made of them is not tried either.
    for (ValueId value : fixed) fixed_[static_cast<size_t>(graph_.value(value).node)] = false;
    return absl::OkStatus();
  }
  KILN_RETURN_IF_ERROR(tensors.status());
  for (size_t i = 0; i < places.size(); ++i) *places[i] = graph_.AddConstant((*tensors)[i]);
  return absl::OkStatus();
}

}  // namespace kiln::frontend
