// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/named_values.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"

namespace kiln::tools {
namespace {

// Returns the names of the model's outputs, keyed by value.
std::map<ValueId, std::string> OutputNames(const Graph& graph) {
  std::map<ValueId, std::string> names;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    names.emplace(graph.outputs[i], graph.OutputName(static_cast<int>(i)));
  }
  return names;
}

// Returns the names of the model's nodes that a node of the fused graph computes, in order.
std::string LayersOf(const Node& node) {
  if (!node.is_group()) return node.source.node;
  std::vector<std::string> layers;
  for (const Node& inner : node.body->nodes) {
    const std::string layer = LayersOf(inner);
    const bool known = std::find(layers.begin(), layers.end(), layer) != layers.end();
    if (!layer.empty() && !known) layers.push_back(layer);
  }
  return absl::StrJoin(layers, " ");
}

// Adds to `sources` the model's nodes that compute values in memory, each with all nodes that are
// fused with it.
void AddSources(const Graph& graph, const std::vector<ValueId>& values, const std::string& layers,
                std::map<std::string, std::string>& sources) {
  for (const ValueId id : values) {
    const Value& value = graph.value(id);
    if (value.kind != ValueKind::kNodeOutput) continue;
    const Node& node = graph.node(value.node);
    if (node.is_group()) {
      AddSources(*node.body, node.body->outputs, LayersOf(node), sources);
    } else if (!node.source.node.empty()) {
      sources.emplace(node.source.node, layers.empty() ? node.source.node : layers);
    }
  }
}

}  // namespace

std::vector<NamedValue> NamedValues(const Graph& graph) {
  const std::map<ValueId, std::string> outputs = OutputNames(graph);
  std::vector<NamedValue> values;
  std::map<std::string, int> uses;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      const auto output = outputs.find(id);
      const std::string& name = output == outputs.end() ? graph.value(id).name : output->second;
      if (name.empty()) continue;
      ++uses[name];
      values.push_back({name, id, node.source.node});
    }
  }
  std::erase_if(values, [&](const NamedValue& value) { return uses[value.name] > 1; });
  return values;
}

std::vector<NamedValue> KeptValues(const Graph& graph, const Graph& fused) {
  std::map<std::string, std::string> sources;
  for (const Node& node : fused.nodes) AddSources(fused, node.outputs, "", sources);
  const std::set<ValueId> outputs(graph.outputs.begin(), graph.outputs.end());
  std::vector<NamedValue> kept;
  for (NamedValue& value : NamedValues(graph)) {
    const auto source = sources.find(value.layer);
    if (source == sources.end() && !outputs.contains(value.value)) continue;
    if (source != sources.end()) value.layer = source->second;
    kept.push_back(std::move(value));
  }
  return kept;
}

Graph WithOutputs(Graph graph, const std::vector<NamedValue>& values) {
  graph.outputs.clear();
  graph.output_names.clear();
  for (const NamedValue& value : values) {
    graph.outputs.push_back(value.value);
    graph.output_names.push_back(value.name);
  }
  // These attributes describe the model's original outputs.
  for (const char* attr : {"output_scales", "output_zero_points", "output_axes"}) {
    graph.attrs.Erase(attr);
  }
  return graph;
}

}  // namespace kiln::tools
