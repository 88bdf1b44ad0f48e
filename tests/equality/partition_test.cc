// SPDX-License-Identifier: Apache-2.0
// Random graphs by seed, with external code generators that take random operators. The partitioned
// graph computes the same bits and has no cycle, and its subgraphs are as large as possible.
#include "compiler/external/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/graph/external_node.h"
#include "compiler/graph/relay_text.h"
#include "compiler/passes/testing/run_pass.h"
#include "tests/equality/random_graph.h"

namespace kiln::equality {
namespace {

constexpr uint32_t kGraphs = 400;

class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 2246822519u + 374761393u) {}
  uint32_t Below(uint32_t n) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % n;
  }

 private:
  uint32_t state_;
};

std::set<std::string> OpsOf(const Graph& graph) {
  std::set<std::string> ops;
  for (const Node& node : graph.nodes) ops.insert(node.op->name);
  return ops;
}

// Takes each operator with a probability of one half, and some pairs of operators as one.
ExternalCodegen RandomCodegen(const char* name, const std::set<std::string>& ops, Random& random) {
  ExternalCodegen codegen{.name = name, .doc = "for tests"};
  for (const std::string& op : ops) {
    if (random.Below(2) == 0) codegen.ops.push_back({op});
    if (random.Below(4) == 0) {
      codegen.patterns.push_back({absl::StrCat(name, ".", op),
                                  {{{op}}, {{ops.begin(), ops.end()}, random.Below(2) == 0}}});
    }
  }
  return codegen;
}

// True if a path from node `from` to node `to` leads through a third node.
bool HasWayAround(const Graph& graph, NodeId from, NodeId to) {
  const auto consumers = graph.Consumers();
  std::set<NodeId> seen;
  std::vector<NodeId> work = {from};
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    for (ValueId output : graph.node(id).outputs) {
      for (NodeId reader : consumers[static_cast<size_t>(output)]) {
        if (reader == to && id != from) return true;
        if (reader != to && seen.insert(reader).second) work.push_back(reader);
      }
    }
  }
  return false;
}

// Expects that no two adjacent subgraphs of one generator could be merged.
void ExpectMaximal(const Graph& graph) {
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    for (ValueId input : graph.node(id).inputs) {
      const NodeId from = graph.value(input).node;
      if (from == kNoId || ExternalCompiler(graph.node(id)).empty() ||
          ExternalCompiler(graph.node(id)) != ExternalCompiler(graph.node(from))) {
        continue;
      }
      EXPECT_TRUE(HasWayAround(graph, from, id)) << BodyText(graph);
    }
  }
}

// Expects that operators that a generator can take are in its subgraphs, unless all their inputs
// are constant.
void ExpectAllTaken(const Graph& graph, const std::vector<const ExternalCodegen*>& codegens) {
  for (const Node& node : graph.nodes) {
    if (node.is_group()) continue;
    const bool fixed = std::all_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId v) { return graph.is_constant(v); });
    for (const ExternalCodegen* codegen : codegens) {
      EXPECT_TRUE(fixed || !CheckOp(*codegen, graph, node).ok()) << node.op_name();
    }
  }
}

TEST(Partition, RandomGraphsStayTheSame) {
  int subgraphs = 0, in_several = 0;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Case test = RandomCase(seed);
    Random random(seed);
    const ExternalCodegen first = RandomCodegen("first", OpsOf(test.graph), random);
    const ExternalCodegen second = RandomCodegen("second", OpsOf(test.graph), random);
    const absl::StatusOr<Graph> graph = Partition(test.graph, "m", {&first, &second});
    ASSERT_TRUE(graph.ok()) << graph.status();
    ASSERT_EQ(Verify(*graph, /*typed=*/true), absl::OkStatus()) << BodyText(*graph);
    ExpectMaximal(*graph);
    ExpectAllTaken(*graph, {&first, &second});
    const auto wanted = RunGraph(test.graph), found = RunGraph(*graph);
    ASSERT_TRUE(wanted.ok() && found.ok()) << wanted.status() << found.status();
    EXPECT_TRUE(*wanted == *found) << BodyText(*graph);
    const auto count = std::count_if(graph->nodes.begin(), graph->nodes.end(),
                                     [](const Node& n) { return !ExternalCompiler(n).empty(); });
    subgraphs += static_cast<int>(count);
    in_several += count > 2 ? 1 : 0;
  }
  // Checks that the random graphs exercise the partitioning.
  EXPECT_GT(subgraphs, static_cast<int>(kGraphs));
  EXPECT_GT(in_several, static_cast<int>(kGraphs / 10));
}

}  // namespace
}  // namespace kiln::equality
