// SPDX-License-Identifier: Apache-2.0
// Graphs with operators of many inputs or outputs.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/lower/testing/lower_model.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// n times `text`, with "#" replaced by the number.
std::string Repeated(int n, absl::string_view text) {
  std::string all;
  for (int k = 0; k < n; ++k) {
    absl::StrAppend(&all, k == 0 ? "" : ", ", absl::StrReplaceAll(text, {{"#", absl::StrCat(k)}}));
  }
  return all;
}

struct LargestFunction {
  size_t params = 0, statements = 0;
};

LargestFunction Largest(const Lowered& lowered) {
  LargestFunction largest;
  for (const loop::Func& func : lowered.program.funcs) {
    size_t statements = 0;
    loop::VisitStmt(func.body, nullptr, [&](const loop::Stmt&) { ++statements; });
    largest.params = std::max(largest.params, func.params.size());
    largest.statements = std::max(largest.statements, statements);
  }
  return largest;
}

// Functions stay small for graphs of any width, because the time of code generators grows faster
// than the size of a function.
class WideGraphs : public ::testing::TestWithParam<std::string (*)(int)> {};

TEST_P(WideGraphs, FunctionsAreOfBoundedSize) {
  for (const char* target : {"x86-64-v3", "cortex-m4f"}) {
    LargestFunction largest[2];
    for (const int scale : {1, 2}) {
      const Graph graph = ParseModel(GetParam()(130 * scale));
      const absl::StatusOr<Lowered> lowered =
          Lower(graph, *Target::Parse(target), {.module_name = "mod"});
      ASSERT_TRUE(lowered.ok()) << lowered.status();
      ASSERT_EQ(loop::VerifyProgram(lowered->program), absl::OkStatus());
      largest[scale - 1] = Largest(*lowered);
    }
    EXPECT_LE(largest[0].params, 65u) << target;
    EXPECT_EQ(largest[1].params, largest[0].params) << target;
    EXPECT_EQ(largest[1].statements, largest[0].statements) << target;
  }
}

TEST_P(WideGraphs, ComputeTheSame) {
  const Graph graph = ParseModel(GetParam()(150));
  std::vector<Tensor> inputs;
  for (ValueId input : graph.inputs) {
    std::vector<float> values(static_cast<size_t>(graph.type(input).num_elements()));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(inputs.size() * 1000 + i);
    }
    inputs.push_back(Tensor::From<float>(graph.type(input).shape, DType::Float(32), values));
  }
  const std::vector<Tensor> expected = RunOnInputs(graph, inputs).value();
  const std::vector<Tensor> found = RunLowered(graph, LowerGraph(graph), inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i] == expected[i]) << i;
}

std::string ManySections(int n) {
  return absl::StrCat("def @main(%x: Tensor[(2, ", 3 * n, "), float32]) {\n",
                      "%0 = split(%x, indices_or_sections=", n, ", axis=-1);\n(",
                      Repeated(n, "%0.#"), ")\n}");
}

std::string ManyPartsOfInputs(int n) {
  return absl::StrCat("def @main(", Repeated(n, "%x#: Tensor[(2, 3), float32]"), ") {\n",
                      "concatenate((", Repeated(n, "%x#"), "), axis=1)\n}");
}

std::string ManyStacked(int n) {
  return absl::StrCat("def @main(", Repeated(n, "%x#: Tensor[(2, 3), float32]"), ") {\n", "stack((",
                      Repeated(n, "%x#"), "), axis=-1)\n}");
}

std::string SplitNegatedAndJoined(int n) {
  std::string text = absl::StrCat("def @main(%x: Tensor[(2, ", 16 * n, "), float32]) {\n",
                                  "%0 = split(%x, indices_or_sections=", n, ", axis=1);\n");
  std::string parts;
  for (int k = 0; k < n; ++k) {
    absl::StrAppend(&text, "%", k + 1, " = negative(%0.", k, ");\n");
    absl::StrAppend(&parts, k == 0 ? "%" : ", %", k + 1);
  }
  return absl::StrCat(text, "concatenate((", parts, "), axis=1)\n}");
}

INSTANTIATE_TEST_SUITE_P(Lower, WideGraphs,
                         ::testing::Values(ManySections, ManyPartsOfInputs, ManyStacked,
                                           SplitNegatedAndJoined));

}  // namespace
}  // namespace kiln
