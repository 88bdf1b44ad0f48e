// SPDX-License-Identifier: Apache-2.0
// Operators fused after a contraction, on every target. The result lowers, its loops pass the
// verifier, and both code generators accept it. Interpreter, C and LLVM (if this machine can run
// its code) give the same bits. For integers, plain loops give the same bits.
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

// Largest difference due to the order of additions. Tables with slopes below 1 follow.
constexpr double kTolerance = 1e-5;
// Number of fusions per target. Each target gets different ones.
constexpr uint32_t kSetSize = kNumFusedContractions / 2;

// Returns a number that the environment may set, as `bazel test //tests/equality:fusions_hunt`
// does.
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
    // The step is odd, so that successive rounds use both types of every contraction.
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

// More than half of the first seeds become one function. Every operator is part of such a function.
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
