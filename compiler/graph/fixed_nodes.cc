// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/fixed_nodes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kiln {

FixedNodes::FixedNodes(const Graph& graph, std::function<bool(const Node&)> counts)
    : graph_(graph), counts_(std::move(counts)) {}

bool FixedNodes::Contains(ValueId value) {
  Update();
  return IsFixed(value);
}

bool FixedNodes::ContainsNode(NodeId node) {
  Update();
  return fixed_[static_cast<size_t>(node)];
}

void FixedNodes::Remove(NodeId node) {
  Update();
  fixed_[static_cast<size_t>(node)] = false;
}

bool FixedNodes::IsFixed(ValueId value) const {
  const Value& v = graph_.value(value);
  return v.kind == ValueKind::kConstant ||
         (v.kind == ValueKind::kNodeOutput && fixed_[static_cast<size_t>(v.node)]);
}

void FixedNodes::Update() {
  while (fixed_.size() < graph_.nodes.size()) {
    const Node& node = graph_.nodes[fixed_.size()];
    fixed_.push_back(std::all_of(node.inputs.begin(), node.inputs.end(),
                                 [&](ValueId v) { return IsFixed(v); }) &&
                     (counts_ == nullptr || counts_(node)));
  }
}

}  // namespace kiln
