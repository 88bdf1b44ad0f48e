// SPDX-License-Identifier: Apache-2.0
// The table of passes and the code that runs it.
#include "compiler/passes/pass.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr char kModel[] = R"(
def @main(%x: Tensor[(1, 2, 4, 4), float32], %constant: Tensor[(3, 2, 1, 1), float32]) {
  %0 = nn.conv2d(copy(%x), %constant, kernel_size=[1, 1]);
  nn.relu(add(%0, add(1f, 2f)))
})";

absl::StatusOr<Graph> RunAll(const Graph& graph, const PassOptions& options) {
  const Target target;
  PassOptions thorough = options;
  thorough.thorough = true;
  const PassContext context = {.target = target, .evaluate = RunGraph};
  absl::StatusOr<Graph> fused = RunPasses(graph, context, thorough);
  return fused.ok() ? RunStripPasses(*std::move(fused), context, thorough) : fused;
}

TEST(RunPasses, NamesAreUniqueAndSayWhatTheyDo) {
  std::set<std::string> names;
  for (const Pass& pass : AllPasses()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_GT(std::string(pass.doc).size(), 20u) << pass.name;
  }
}

// The build would fail if two neighbors in the table were swapped: pass.cc asserts the
// same of the actual table.
TEST(RunPasses, NeighboursDoNotSwap) {
  constexpr Properties kGoal = kTyped | kOwnOutputs | kFused;
  constexpr size_t kNumPasses = 15;
  ASSERT_EQ(AllPasses().size(), kNumPasses);
  std::array<Pass, kNumPasses> table{};
  std::copy(AllPasses().begin(), AllPasses().end(), table.begin());
  EXPECT_TRUE(OrderIsValid(table, 0, kGoal));
  for (size_t i = 0; i + 1 < table.size(); ++i) {
    EXPECT_FALSE(OrderIsValid(WithSwapped(table, i), 0, kGoal))
        << table[i].name << " and " << table[i + 1].name;
  }
}

TEST(RunPasses, CallsAfterEachInOrder) {
  std::vector<std::string> seen;
  PassOptions options;
  options.after = [&](absl::string_view name, const Graph& graph) {
    seen.emplace_back(name);
    EXPECT_EQ(Verify(graph, /*typed=*/true), absl::OkStatus()) << name;
  };
  ASSERT_TRUE(RunAll(ParseModel(kModel), options).ok());
  std::vector<std::string> wanted;
  for (const Pass& pass : AllPasses()) wanted.emplace_back(pass.name);
  EXPECT_EQ(seen, wanted);
}

TEST(RunPasses, LeavesOutWhatIsSwitchedOff) {
  PassOptions options;
  options.disabled = {"fuse", "convert-layout"};
  options.after = [&](absl::string_view name, const Graph&) {
    EXPECT_TRUE(name != "fuse" && name != "convert-layout") << name;
  };
  const absl::StatusOr<Graph> graph = RunAll(ParseModel(kModel), options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(BodyText(*graph),
            "%0 = nn.conv2d(%x, meta[relay.Constant][0], kernel_size=[1, 1]);\n"
            "%1 = add(%0, 3f);\n"
            "nn.relu(%1)\n");
}

// Any optional pass, or all of them, can be missing: the results stay the same.
TEST(RunPasses, ResultsDoNotDependOnOptionalPasses) {
  const Graph graph = ParseModel(kModel);
  const std::vector<Tensor> expected = RunGraph(graph).value();
  std::vector<std::vector<std::string>> choices = {{}, {}};
  for (const Pass& pass : AllPasses()) {
    if (!pass.optional) continue;
    choices.push_back({pass.name});
    choices[1].push_back(pass.name);
  }
  for (const auto& disabled : choices) {
    PassOptions options;
    options.disabled = disabled;
    const absl::StatusOr<Graph> result = RunAll(graph, options);
    ASSERT_TRUE(result.ok()) << result.status();
    const std::vector<Tensor> found = RunGraph(*result).value();
    ASSERT_EQ(found[0].type(), expected[0].type());
    for (int64_t i = 0; i < expected[0].type().num_elements(); ++i) {
      EXPECT_NEAR(found[0].AsDouble(i), expected[0].AsDouble(i), 1e-4);
    }
  }
}

TEST(RunPasses, RefusesNamesThatCannotBeSwitchedOff) {
  const Graph graph = ParseModel(kModel);
  PassOptions options;
  options.disabled = {"bake"};
  EXPECT_EQ(std::string(RunAll(graph, options).status().message()).substr(0, 39),
            "unknown pass 'bake'; optional passes ar");
  options.disabled = {"infer-types"};
  const absl::Status status = RunAll(graph, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()).substr(0, 36), "cannot switch off pass 'infer-types'");
}

TEST(RunPasses, NothingIsLeftToDoTheSecondTime) {
  const absl::StatusOr<Graph> once = RunAll(ParseModel(kModel), {});
  ASSERT_TRUE(once.ok()) << once.status();
  const absl::StatusOr<Graph> twice = RunAll(*once, {});
  ASSERT_TRUE(twice.ok()) << twice.status();
  EXPECT_TRUE(*once == *twice) << BodyText(*once) << BodyText(*twice);
}

// Constants that one pass has computed do not allow the next one to compute larger ones.
TEST(RunPasses, AFewBytesOfAModelDoNotBecomeGigabytes) {
  std::string model = "def @main(%x: Tensor[(), float32], %constant: Tensor[(1,), float32]) {\n";
  for (int i = 0; i < 30; ++i) {
    const std::string value = i == 0 ? "%constant" : absl::StrCat("%", i - 1);
    absl::StrAppend(&model, "  %", i, " = concatenate((", value, ", ", value, "), axis=0);\n");
  }
  absl::StrAppend(&model, "  add(%x, sum(%29))\n}");
  const auto zeros = [](const Graph& graph) -> absl::StatusOr<std::vector<Tensor>> {
    std::vector<Tensor> tensors;
    for (ValueId output : graph.outputs) tensors.push_back(Tensor::Filled(graph.type(output), 0));
    return tensors;
  };
  const Target target;
  const absl::StatusOr<Graph> graph =
      RunPasses(ParseModel(model),
                {.target = target,
                 .evaluate = zeros,
                 .work = [](const Graph&, const Node&) { return int64_t{1}; }},
                {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  int64_t largest = 0;
  for (const Value& value : graph->values) {
    if (value.kind != ValueKind::kConstant) continue;
    largest = std::max(largest, value.type->num_bytes());
  }
  EXPECT_EQ(largest, 64 << 20);
}

}  // namespace
}  // namespace kiln
