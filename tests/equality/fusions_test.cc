// SPDX-License-Identifier: Apache-2.0
// What is fused behind a contraction, on every target: it lowers, its loops pass the verifier, both
// code generators take it, and interpreter, C and (where this machine runs it) LLVM's code give the
// same bits, which for integers are those of plain loops.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "compiler/evaluate/evaluate.h"
#include "compiler/passes/pass.h"
#include "compiler/target/target.h"
#include "tests/equality/engines.h"
#include "tests/equality/random_graph.h"

namespace kiln::equality {
namespace {

// What another order of additions changes, before tables whose slope is below 1.
constexpr double kTolerance = 1e-5;
// Of fusions that a target gets; each target's are its own.
constexpr uint32_t kSetSize = kNumFusedContractions / 2;

// A number that the environment may set: `bazel test //tests/equality:fusions_hunt` does.
uint32_t Number(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

std::vector<std::string> Targets() {
  std::vector<std::string> targets = ListTargets();
  targets.push_back("x86-64-v4 -mattr=+avx512vnni");
  return targets;
}

class Fusions : public testing::TestWithParam<size_t> {};

TEST_P(Fusions, AllEnginesAgree) {
  const absl::StatusOr<Target> target = Target::Parse(Targets()[GetParam()]);
  ASSERT_TRUE(target.ok()) << target.status();
  for (uint32_t round = 0; round < Number("KILN_ROUNDS", 1); ++round) {
    // From round to round an odd number of sets further: the other types of every contraction.
    const uint32_t step = static_cast<uint32_t>(Targets().size()) | 1;
    const uint32_t set =
        Number("KILN_FIRST_SET", 0) + round * step + static_cast<uint32_t>(GetParam());
    std::vector<Case> cases;
    for (uint32_t i = 0; i < kSetSize; ++i) cases.push_back(RandomFusion(set * kSetSize + i));
    const std::vector<Outputs> fused = RunOnAllEngines(cases, {.target = *target});
    const std::vector<Outputs> plain = RunOnAllEngines(
        cases, {.target = *target, .naive = true, .passes = false, .interpret_only = true});
    for (size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(Difference(fused[i], plain[i], kTolerance), "")
          << cases[i].name << ": compiled and plain";
    }
  }
}

std::string NameOf(const testing::TestParamInfo<size_t>& info) {
  std::string name = Targets()[info.param];
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Targets, Fusions, testing::Range<size_t>(0, Targets().size()), NameOf);

// Of the first seeds, more than half are one function, and every operator is behind some
// contraction in it.
TEST(RandomFusion, IsOneFunction) {
  const Target target = *Target::Parse("x86-64-v3");
  constexpr uint32_t kSeeds = 10 * kNumFusedContractions;
  uint32_t whole = 0;
  std::set<std::string> names;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Case test = RandomFusion(seed);
    const absl::StatusOr<Graph> graph =
        RunPasses(test.graph, {.target = target, .evaluate = EvaluateAllConstants}, {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    if (graph->nodes.size() != 1) continue;
    ++whole;
    for (const Node& node : test.graph.nodes) names.insert(std::string(node.op_name()));
  }
  EXPECT_GT(whole, kSeeds / 2);
  for (const char* name :
       {"nn.conv2d", "nn.conv2d_transpose", "nn.dense", "nn.batch_matmul", "qnn.conv2d",
        "qnn.conv2d_transpose", "qnn.dense", "qnn.batch_matmul", "nn.bias_add", "qnn.requantize",
        "qnn.sigmoid", "qnn.tanh", "sigmoid", "tanh", "qnn.exp", "qnn.add", "add", "clip"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace kiln::equality
