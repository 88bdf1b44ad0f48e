// SPDX-License-Identifier: Apache-2.0
// Each graph pass on random graphs without rounding: every bit is the same with and without the
// pass, and the pass changes at least the stated share of graphs. Each pass has a target
// graph_pass_<name>_test. `bazel test //tests/equality:graph_passes_hunt` runs 20,000 graphs
// through each pass; `--test_env=KILN_FIRST_SEED=100000` selects other graphs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/testing/run_pass.h"
#include "tests/equality/exact_graph.h"

namespace kiln::equality {
namespace {

uint32_t Number(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

struct Case {
  const char* name;
  PassFunction pass;
  bool quantised;
  std::vector<PassFunction> before;  // passes that establish the properties that `pass` needs
  uint32_t changed_of_hundred;       // least number of changed graphs per hundred
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

class GraphPass : public testing::TestWithParam<Case> {};

TEST_P(GraphPass, KeepsEveryBit) {
  const Case& test = GetParam();
  const uint32_t graphs = Number("KILN_GRAPHS", 1000), first = Number("KILN_FIRST_SEED", 0);
  uint32_t changed = 0;
  for (uint32_t seed = first; seed < first + graphs; ++seed) {
    Graph graph = RandomExactGraph(seed, test.quantised);
    for (PassFunction pass : test.before) {
      const absl::StatusOr<Graph> next = RunPass(pass, graph);
      ASSERT_TRUE(next.ok()) << "seed " << seed << ": " << next.status();
      graph = *next;
    }
    const absl::StatusOr<Graph> after = RunPass(test.pass, graph);
    ASSERT_TRUE(after.ok()) << "seed " << seed << ": " << after.status();
    ASSERT_EQ(Verify(*after, /*typed=*/true), absl::OkStatus()) << "seed " << seed;
    if (*after == graph) continue;
    ++changed;
    const absl::StatusOr<std::vector<Tensor>> expected = RunGraph(graph), found = RunGraph(*after);
    ASSERT_TRUE(expected.ok()) << "seed " << seed << ": " << expected.status();
    ASSERT_TRUE(found.ok()) << "seed " << seed << ": " << found.status();
    ASSERT_TRUE(*found == *expected) << "seed " << seed << "\n"
                                     << BodyText(graph) << "became\n"
                                     << BodyText(*after);
  }
  RecordProperty("changed", static_cast<int>(changed));
  EXPECT_GE(changed * 100, graphs * test.changed_of_hundred) << changed << " of " << graphs;
}

INSTANTIATE_TEST_SUITE_P(
    Passes, GraphPass,
    testing::Values(Case{"canonicalize", Canonicalize, false, {}, 65},
                    Case{"integer_products", IntegerProducts, true, {Canonicalize}, 70},
                    Case{"fold_scales", FoldScales, false, {Canonicalize}, 50},
                    Case{"fold_constants", FoldConstants, false, {Canonicalize}, 40},
                    Case{"eliminate_common_subexpressions",
                         EliminateCommonSubexpressions,
                         false,
                         {Canonicalize},
                         65},
                    Case{"convert_layout", ConvertLayout, false, {Canonicalize}, 40},
                    Case{"copy_outputs", CopyOutputs, false, {}, 45},
                    Case{"fuse", Fuse, false, {Canonicalize, CopyOutputs}, 90}),
    [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

// infer-types restores the types that were removed from a graph.
TEST(InferTypes, GivesBackWhatIsTakenAway) {
  const uint32_t graphs = Number("KILN_GRAPHS", 1000), first = Number("KILN_FIRST_SEED", 0);
  for (uint32_t seed = first; seed < first + graphs; ++seed) {
    const Graph graph = RandomExactGraph(seed, seed % 2 == 1);
    Graph untyped = graph;
    for (Value& value : untyped.values) {
      if (value.kind == ValueKind::kNodeOutput) value.type = std::nullopt;
    }
    const absl::StatusOr<Graph> typed = RunPass(InferTypes, untyped);
    ASSERT_TRUE(typed.ok()) << "seed " << seed << ": " << typed.status();
    ASSERT_FALSE(untyped == graph) << "seed " << seed;
    ASSERT_TRUE(*typed == graph) << "seed " << seed << "\n" << BodyText(graph);
  }
}

}  // namespace
}  // namespace kiln::equality
