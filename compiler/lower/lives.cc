// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lives.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "compiler/ops/op_queries.h"

namespace kiln {

ValueId MemoryOf(const Graph& graph, const Slices& slices, ValueId value) {
  for (;;) {
    value = slices.Of(value).whole;
    const Value& v = graph.value(value);
    if (v.kind != ValueKind::kNodeOutput || !IsView(graph, graph.node(v.node))) return value;
    value = graph.node(v.node).inputs[0];
  }
}

std::map<ValueId, Life> FindLives(const Graph& graph, const Slices& slices) {
  std::map<ValueId, Life> lives;
  const auto touch = [&](ValueId value, size_t at, bool is_callers) {
    if (graph.is_constant(value)) return;
    Life& life = lives.try_emplace(MemoryOf(graph, slices, value), Life{at, at}).first->second;
    life.first = std::min(life.first, at);
    life.last = std::max(life.last, at);
    life.is_callers = life.is_callers || is_callers;
  };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId value : graph.nodes[i].inputs) touch(value, i, false);
    for (ValueId value : graph.nodes[i].outputs) touch(value, i, false);
  }
  const size_t last = graph.nodes.empty() ? 0 : graph.nodes.size() - 1;
  for (ValueId value : graph.inputs) touch(value, 0, true);
  for (ValueId value : graph.outputs) touch(value, last, true);
  return lives;
}

std::vector<TensorMemory> FindTensorMemory(const Graph& graph, const Slices& slices,
                                           bool workspace_io) {
  const size_t num_nodes = graph.nodes.size();
  std::set<ValueId> outputs;
  for (ValueId output : graph.outputs) outputs.insert(MemoryOf(graph, slices, output));
  std::vector<int64_t> alive(num_nodes, 0), made(num_nodes, 0), dying(num_nodes, 0);
  for (const auto& [memory, life] : FindLives(graph, slices)) {
    const int64_t bytes = graph.type(memory).num_bytes();
    const bool always = life.is_callers && !workspace_io;
    const size_t first = always ? 0 : life.first, behind = always ? num_nodes : life.last + 1;
    for (size_t i = first; i < behind && i < num_nodes; ++i) alive[i] += bytes;
    if (always) continue;
    const bool is_made = graph.value(memory).kind == ValueKind::kNodeOutput;
    const bool dies = !outputs.contains(memory) && !(is_made && life.first == life.last);
    if (is_made) made[life.first] = std::max(made[life.first], bytes);
    if (dies) dying[life.last] = std::max(dying[life.last], bytes);
  }
  // The minimum that any plan takes. The result of a node may reach into values that die there.
  int64_t least = 0;
  for (size_t i = 0; i < num_nodes; ++i) {
    least = std::max(least, alive[i] - std::min(made[i], dying[i]));
  }
  std::vector<TensorMemory> memory;
  for (int64_t bytes : alive)
    memory.push_back({.least_bytes = least, .spare_bytes = least - bytes});
  return memory;
}

}  // namespace kiln
