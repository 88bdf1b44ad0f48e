// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/rewrite.h"

#include <cassert>
#include <utility>

namespace kiln {

GraphRewriter::GraphRewriter(const Graph& old_graph)
    : old_graph_(old_graph), new_ids_(old_graph.values.size(), kNoId) {
  for (ValueId id : old_graph.inputs) {
    const Value& input = old_graph.value(id);
    new_ids_[static_cast<size_t>(id)] = new_graph_.AddInput(input.name, *input.type);
  }
}

ValueId GraphRewriter::Map(ValueId old_value) {
  ValueId& new_id = new_ids_[static_cast<size_t>(old_value)];
  if (new_id == kNoId) {
    const Value& value = old_graph_.value(old_value);
    assert(value.kind == ValueKind::kConstant);
    new_id = new_graph_.AddConstant(value.constant, value.name);
  }
  return new_id;
}

NodeId GraphRewriter::Copy(NodeId old_node) {
  Node node = old_graph_.node(old_node);
  for (ValueId& input : node.inputs) input = Map(input);
  const std::vector<ValueId> old_outputs = std::move(node.outputs);
  const NodeId id = new_graph_.AddNode(std::move(node), static_cast<int>(old_outputs.size()));
  for (size_t i = 0; i < old_outputs.size(); ++i) {
    const ValueId new_output = new_graph_.node(id).outputs[i];
    new_graph_.value(new_output).type = old_graph_.value(old_outputs[i]).type;
    new_graph_.value(new_output).name = old_graph_.value(old_outputs[i]).name;
    Replace(old_outputs[i], new_output);
  }
  return id;
}

void GraphRewriter::Replace(ValueId old_value, ValueId new_value) {
  new_ids_[static_cast<size_t>(old_value)] = new_value;
}

Graph GraphRewriter::Finish() && { return RemoveDeadNodes(std::move(*this).Assemble()); }

Graph GraphRewriter::Assemble() && {
  for (ValueId output : old_graph_.outputs) new_graph_.outputs.push_back(Map(output));
  new_graph_.output_names = old_graph_.output_names;
  new_graph_.attrs = old_graph_.attrs;
  return std::move(new_graph_);
}

namespace {

// Returns for each node: true if an output of the graph depends on it.
std::vector<bool> LiveNodes(const Graph& graph) {
  std::vector<bool> live(graph.nodes.size(), false);
  auto mark = [&](const std::vector<ValueId>& values) {
    for (ValueId id : values) {
      const NodeId producer = graph.value(id).node;
      if (producer != kNoId) live[static_cast<size_t>(producer)] = true;
    }
  };
  mark(graph.outputs);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (live[i]) mark(graph.nodes[i].inputs);
  }
  return live;
}

}  // namespace

Graph RemoveDeadNodes(const Graph& graph) {
  const std::vector<bool> live = LiveNodes(graph);
  GraphRewriter rewriter(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (live[i]) rewriter.Copy(static_cast<NodeId>(i));
  }
  return std::move(rewriter).Assemble();
}

}  // namespace kiln
