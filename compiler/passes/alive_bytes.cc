// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/alive_bytes.h"

#include <algorithm>
#include <utility>

#include "compiler/ops/op_queries.h"

namespace kiln {

AliveBytes::AliveBytes(const Graph& graph) : at_(graph.nodes.size(), 0) {
  const auto num_nodes = static_cast<NodeId>(graph.nodes.size());
  std::vector<int> life_of(graph.values.size(), -1);
  const auto add = [&](ValueId value, NodeId first, NodeId last) {
    life_of[static_cast<size_t>(value)] = static_cast<int>(lives_.size());
    lives_.push_back({first, last, graph.type(value).num_bytes()});
  };
  const auto life = [&](ValueId value) -> Life* {
    const int i = life_of[static_cast<size_t>(value)];
    return i < 0 ? nullptr : &lives_[static_cast<size_t>(i)];
  };
  for (ValueId input : graph.inputs) add(input, -1, -1);
  for (NodeId id = 0; id < num_nodes; ++id) {
    const Node& node = graph.node(id);
    for (ValueId input : node.inputs) {
      if (Life* of = life(input); of != nullptr) of->last = id;
    }
    for (ValueId output : node.outputs) {
      if (IsView(graph, node)) {
        life_of[static_cast<size_t>(output)] = life_of[static_cast<size_t>(node.inputs[0])];
      } else {
        add(output, id, id);
      }
    }
  }
  for (ValueId output : graph.outputs) {
    if (Life* of = life(output); of != nullptr) of->last = num_nodes;
  }
  for (const Life& of : lives_) {
    for (NodeId id = std::max(of.first, 0); id <= std::min(of.last, num_nodes - 1); ++id) {
      at_[static_cast<size_t>(id)] += of.bytes;
    }
  }
  for (NodeId id = 0; id < num_nodes; ++id) {
    int64_t dying = 0, made = 0;
    for (const Life& of : lives_) {
      if (of.last == id && of.first < id) dying = std::max(dying, of.bytes);
      if (of.first == id) made = std::max(made, of.bytes);
    }
    at_[static_cast<size_t>(id)] -= std::min(dying, made);
  }
}

int64_t AliveBytes::Around(NodeId first, NodeId last) const {
  int64_t bytes = 0;
  for (const Life& of : lives_) {
    const bool before = of.first < first && of.last >= first;
    const bool behind = of.first >= first && of.first <= last && of.last > last;
    if (before || behind) bytes += of.bytes;
  }
  return bytes;
}

}  // namespace kiln
