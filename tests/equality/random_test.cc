// SPDX-License-Identifier: Apache-2.0
// Random graphs by seed. Interpreter, C and LLVM agree bit for bit on the compiled program. Passes,
// fusion and schedules change floats only by rounding, and quantized operators not at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "tests/equality/engines.h"
#include "tests/equality/random_graph.h"

namespace kiln::equality {
namespace {

constexpr int kParts = 10;
constexpr int kGraphsPerPart = 55;  // 550 in all
constexpr int kQuantizedParts = 20;
constexpr int kQuantizedGraphsPerPart = 50;  // 1,000 in all
// Largest difference due to reordered additions and folded scales, relative to 1 + |value|.
// Successive softmax, exp and divisions amplify it.
constexpr double kTolerance = 2e-3;

// First seed; other graphs by `--test_env=KILN_FIRST_SEED=10000`.
uint32_t FirstSeed() {
  const char* text = std::getenv("KILN_FIRST_SEED");
  return text == nullptr ? 0 : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

bool HasHalf(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(),
                     [](const Value& value) { return value.type->dtype == DType::Float(16); });
}

class RandomTest : public testing::TestWithParam<int> {};

TEST_P(RandomTest, AllEnginesAgree) {
  std::vector<Case> cases;
  for (int i = 0; i < kGraphsPerPart; ++i) {
    Case test = RandomCase(FirstSeed() + static_cast<uint32_t>(GetParam() * kGraphsPerPart + i));
    if (!test.graph.outputs.empty()) cases.push_back(std::move(test));
  }
  ASSERT_GT(cases.size(), static_cast<size_t>(kGraphsPerPart) * 9 / 10);
  const std::vector<Outputs> fused = RunOnAllEngines(cases, {.target = Target::Host()});
  const std::vector<Outputs> plain =
      RunOnAllEngines(cases, {.target = Target::Host(), .naive = true, .passes = false});
  for (size_t i = 0; i < cases.size(); ++i) {
    // A difference of one float16 step is too large after a division or floor.
    if (HasHalf(cases[i].graph)) continue;
    EXPECT_EQ(Difference(fused[i], plain[i], kTolerance), "")
        << cases[i].name << ": compiled and plain";
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomTest, testing::Range(0, kParts));

class RandomQuantizedTest : public testing::TestWithParam<int> {};

TEST_P(RandomQuantizedTest, AllEnginesAgree) {
  std::vector<Case> cases;
  for (int i = 0; i < kQuantizedGraphsPerPart; ++i) {
    cases.push_back(RandomQuantizedCase(
        FirstSeed() + static_cast<uint32_t>(GetParam() * kQuantizedGraphsPerPart + i)));
    ASSERT_FALSE(cases.back().graph.outputs.empty()) << cases.back().name;
  }
  const std::vector<Outputs> fused = RunOnAllEngines(cases, {.target = Target::Host()});
  const std::vector<Outputs> plain = RunOnAllEngines(
      cases, {.target = Target::Host(), .naive = true, .passes = false, .interpret_only = true});
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(Difference(fused[i], plain[i], 0), "") << cases[i].name << ": compiled and plain";
  }
}

// Counts over all seeds of a test run, in every shard.
TEST(RandomQuantizedCase, MakesEveryOperatorOften) {
  std::map<std::string, int> graphs;  // number of graphs with an operator, by its name
  for (uint32_t seed = 0; seed < kQuantizedParts * kQuantizedGraphsPerPart; ++seed) {
    std::set<std::string> names;
    for (const Node& node : RandomQuantizedCase(seed).graph.nodes) {
      names.insert(std::string(node.op_name()));
    }
    for (const std::string& name : names) ++graphs[name];
  }
  for (const char* name : {"qnn.add",        "qnn.avg_pool2d",
                           "qnn.conv2d",     "qnn.dense",
                           "qnn.dequantize", "qnn.erf",
                           "qnn.exp",        "qnn.hardswish",
                           "qnn.log",        "qnn.mean",
                           "qnn.mul",        "qnn.quantize",
                           "qnn.requantize", "qnn.rsqrt",
                           "qnn.sigmoid",    "qnn.softmax",
                           "qnn.sqrt",       "qnn.subtract",
                           "qnn.tanh",       "clip",
                           "concatenate",    "max",
                           "maximum",        "nn.bias_add",
                           "nn.max_pool2d",  "nn.pad",
                           "nn.relu",        "reshape",
                           "strided_slice",  "transpose"}) {
    EXPECT_GE(graphs[name], 10) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomQuantizedTest, testing::Range(0, kQuantizedParts));

}  // namespace
}  // namespace kiln::equality
