// SPDX-License-Identifier: Apache-2.0
// Attention as one function: all engines agree, and it gives the same bits as separate operators.
// If each lane of a vector has a row of its own, sums are in another order (decision 0031).
#include <gtest/gtest.h>

#include <string>

#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "tests/equality/engines.h"

namespace kiln::equality {
namespace {

constexpr char kMain[] = "#[version = \"0.0.5\"]\ndef @main(";

// Heads that are adjacent in rows, transposed keys, a mask, and an epilogue.
constexpr char kHeads[] =
    "%q: Tensor[(1, 37, 3, 16), float32], %k: Tensor[(1, 21, 3, 16), float32], "
    "%v: Tensor[(1, 21, 3, 24), float32], %m: Tensor[(1, 1, 1, 21), float32]) {\n"
    "%0 = nn.batch_matmul(transpose(%q, axes=[0, 2, 1, 3]), transpose(%k, axes=[0, 2, 3, 1]));\n"
    "%1 = nn.softmax(add(divide(%0, 4f), %m));\n"
    "%2 = nn.relu(nn.batch_matmul(%1, transpose(%v, axes=[0, 2, 1, 3])));\n"
    "transpose(%2, axes=[0, 2, 1, 3]) }";
// The same with numbers of keys and columns that fill the lanes of vectors.
constexpr char kFullLanes[] =
    "%q: Tensor[(1, 37, 3, 16), float32], %k: Tensor[(1, 32, 3, 16), float32], "
    "%v: Tensor[(1, 32, 3, 16), float32], %m: Tensor[(1, 1, 1, 32), float32]) {\n"
    "%0 = nn.batch_matmul(transpose(%q, axes=[0, 2, 1, 3]), transpose(%k, axes=[0, 2, 3, 1]));\n"
    "%1 = nn.softmax(add(divide(%0, 4f), %m));\n"
    "%2 = nn.relu(nn.batch_matmul(%1, transpose(%v, axes=[0, 2, 1, 3])));\n"
    "transpose(%2, axes=[0, 2, 1, 3]) }";
// Keys row by row, one head, and a product with weights after the softmax.
constexpr char kRows[] =
    "%q: Tensor[(9, 8), float32], %k: Tensor[(40, 8), float32], %w: Tensor[(12, 40), float32]) {\n"
    "%0 = nn.log_softmax(nn.dense(%q, %k));\n"
    "nn.dense(%0, %w) }";
// float16 with a batch of 1 that is broadcast.
constexpr char kHalf[] =
    "%q: Tensor[(2, 5, 8), float16], %k: Tensor[(1, 8, 33), float16], "
    "%v: Tensor[(1, 33, 16), float16]) {\n"
    "%0 = nn.softmax(nn.batch_matmul(%q, %k));\n"
    "nn.batch_matmul(%0, %v) }";

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* text : {kHeads, kFullLanes, kRows, kHalf}) {
    const absl::StatusOr<Graph> graph =
        ParseRelay(std::string(kMain) + text, "attention.relay", FindOpSchema);
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (!graph.ok()) continue;
    Case c{"attention " + std::to_string(cases.size()), *graph, {}};
    for (ValueId input : graph->inputs) {
      const auto seed = static_cast<uint32_t>(c.inputs.size() + 1);
      c.inputs.push_back(RandomValues(graph->type(input), seed, -1, 1));
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

constexpr double kSumTolerance = 1e-6;

// True if each lane has a row of the first case: its 21 keys leave many lanes of AVX empty.
bool HasRowsInLanes(size_t which, absl::string_view target) {
  return which == 0 && (target == "x86-64-v3" || target == "x86-64-v4");
}

class Attention : public testing::TestWithParam<const char*> {};

TEST_P(Attention, GivesTheBitsOfOperatorsByThemselves) {
  const std::vector<Case> cases = Cases();
  EngineOptions options;
  options.target = *Target::Parse(GetParam());
  const std::vector<Outputs> fused = RunOnAllEngines(cases, options);
  options.fuse = false;
  options.interpret_only = true;
  const std::vector<Outputs> alone = RunOnAllEngines(cases, options);
  for (size_t i = 0; i < cases.size(); ++i) {
    ASSERT_FALSE(fused[i].empty());
    const double tolerance = HasRowsInLanes(i, GetParam()) ? kSumTolerance : 0;
    EXPECT_EQ(Difference(fused[i], alone[i], tolerance), "") << cases[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Attention,
                         testing::Values("x86-64", "x86-64-v3", "x86-64-v4", "aarch64",
                                         "cortex-m4f", "riscv64gcv"));

}  // namespace
}  // namespace kiln::equality
