// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(FoldConstants, ComputesWhatDependsOnConstantsOnly) {
  EXPECT_EQ(Transform(FoldConstants, R"(
def @main(%x: Tensor[(), float32]) {
  %0 = multiply(2f, 3f);
  %1 = sqrt(add(%0, 3f));
  multiply(%x, %1)
})"),
            "multiply(%x, 3f)\n");
}

TEST(FoldConstants, FoldsOutputsToo) {
  EXPECT_EQ(Transform(FoldConstants, R"(
def @main(%x: Tensor[(), float32]) {
  (nn.relu(%x), add(1f, 1f))
})"),
            "%0 = nn.relu(%x);\n(%0, 2f)\n");
}

TEST(FoldConstants, FoldsOneOfSeveralOutputsOfANode) {
  EXPECT_EQ(Transform(FoldConstants, R"(
def @main(%x: Tensor[(1,), float32], %constant: Tensor[(2,), float32]) {
  %0 = split(%constant, indices_or_sections=2);
  add(%x, %0.1)
})"),
            "add(%x, meta[relay.Constant][0])\n");
}

TEST(FoldConstants, EvaluatesAllAtOnce) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(), float32]) {
  %0 = add(1f, 2f);
  %1 = add(4f, 5f);
  multiply(multiply(%x, %0), %1)
})");
  int evaluations = 0;
  ASSERT_TRUE(RunPass(FoldConstants, graph, &evaluations).ok());
  EXPECT_EQ(evaluations, 1);
}

TEST(FoldConstants, AsksForNothingWhereNothingFolds) {
  const Graph graph = ParseModel("def @main(%x: Tensor[(), float32]) { add(%x, 1f) }");
  int evaluations = 0;
  const absl::StatusOr<Graph> folded = RunPass(FoldConstants, graph, &evaluations);
  ASSERT_TRUE(folded.ok());
  EXPECT_TRUE(*folded == graph);
  EXPECT_EQ(evaluations, 0);
}

// Nodes that nothing reads are removed without being computed.
TEST(FoldConstants, DropsConstantsThatNothingReads) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(), float32]) {
  %0 = add(1f, 2f);
  nn.relu(%x)
})");
  int evaluations = 0;
  const absl::StatusOr<Graph> folded = RunPass(FoldConstants, graph, &evaluations);
  ASSERT_TRUE(folded.ok());
  EXPECT_EQ(BodyText(*folded), "nn.relu(%x)\n");
  EXPECT_EQ(evaluations, 0);
}

// Only constant weights are packed.
TEST(FoldConstants, ComputesWeightsHoweverLarge) {
  EXPECT_EQ(Transform(FoldConstants, R"(
def @main(%x: Tensor[(1, 1024), float32]) {
  %0 = broadcast_to(1f, shape=[1024, 1024]);
  nn.dense(%x, transpose(%0), units=None)
})"),
            "nn.dense(%x, meta[relay.Constant][0])\n");
}

TEST(FoldConstants, ComputesFactorsOfBatchesToo) {
  EXPECT_EQ(Transform(FoldConstants, R"(
def @main(%x: Tensor[(1, 1, 1024), float32]) {
  nn.batch_matmul(%x, broadcast_to(1f, shape=[1, 1024, 512]))
})"),
            "nn.batch_matmul(%x, meta[relay.Constant][0])\n");
}

TEST(FoldConstants, KeepsComputationsThatWouldGrowALot) {
  // 4 MiB from 4 bytes.
  EXPECT_EQ(Transform(FoldConstants, R"(
def @main(%x: Tensor[(1, 1), float32]) {
  %0 = broadcast_to(1f, shape=[1024, 1024]);
  max(add(%x, %0))
})"),
            "%0 = broadcast_to(1f, shape=[1024, 1024]);\n%1 = add(%x, %0);\nmax(%1)\n");
  // 4 KiB from 4 bytes.
  EXPECT_EQ(Transform(FoldConstants, R"(
def @main(%x: Tensor[(1, 1), float32]) {
  %0 = broadcast_to(1f, shape=[32, 32]);
  add(%x, %0)
})"),
            "add(%x, meta[relay.Constant][0])\n");
}

// The body after the pass if every node takes `work` operations.
std::string FoldedWhereNodesTake(int64_t work, absl::string_view model) {
  const Target target;
  const absl::StatusOr<Graph> folded = FoldConstants(
      ParseModel(model), {.target = target,
                          .evaluate = RunGraph,
                          .work = [work](const Graph&, const Node&) { return work; }});
  EXPECT_TRUE(folded.ok()) << folded.status();
  return folded.ok() ? BodyText(*folded) : "";
}

// A small model may take 2^28 operations.
TEST(FoldConstants, LeavesWhatIsOutOfProportionToRunTime) {
  constexpr absl::string_view kModel = R"(
def @main(%x: Tensor[(), float32]) {
  %0 = add(1f, 2f);
  %1 = multiply(%0, %0);
  %2 = sqrt(%1);
  multiply(%x, %2)
})";
  EXPECT_EQ(FoldedWhereNodesTake(1 << 26, kModel), "multiply(%x, 3f)\n");
  EXPECT_EQ(FoldedWhereNodesTake(1 << 27, kModel), "%0 = sqrt(9f);\nmultiply(%x, %0)\n");
  EXPECT_EQ(FoldedWhereNodesTake(int64_t{1} << 40, kModel),
            "%0 = add(1f, 2f);\n%1 = multiply(%0, %0);\n%2 = sqrt(%1);\nmultiply(%x, %2)\n");
}

// The more constants there are, the more may be computed from them.
TEST(FoldConstants, ComputesWeightsInProportionToTheirSize) {
  const auto model = [](int64_t rows) {
    return absl::StrCat(
        "def @main(%x: Tensor[(1, ", rows, "), float32], %constant: Tensor[(", rows,
        ", 1024), float32]) {\n  nn.dense(%x, transpose(%constant), units=None)\n}");
  };
  const std::string folded = "nn.dense(%x, meta[relay.Constant][0])\n";
  constexpr int64_t kWork = int64_t{1} << 32;
  EXPECT_NE(FoldedWhereNodesTake(kWork, model(16)), folded);
  EXPECT_EQ(FoldedWhereNodesTake(kWork, model(1024)), folded);
}

// A model of a few bytes must not take gigabytes to compile.
TEST(FoldConstants, LeavesHugeWeightsOfASmallModelToRunTime) {
  const auto model = [](int64_t size, int count) {
    std::string text = absl::StrCat("def @main(%x: Tensor[(1, ", size, "), float32]) {\n");
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&text, "  %", 2 * i, " = broadcast_to(", i, ".5f, shape=[", size, ", ", size,
                      "]);\n  %", 2 * i + 1, " = nn.dense(",
                      i == 0 ? "%x" : absl::StrCat("%", 2 * i - 1), ", %", 2 * i, ");\n");
    }
    return absl::StrCat(text, "  nn.relu(%", 2 * count - 1, ")\n}");
  };
  const auto computes = [&](int64_t size, int count) {
    return absl::StrContains(FoldedWhereNodesTake(1, model(size, count)), "broadcast_to");
  };
  EXPECT_FALSE(computes(1024, 2));
  EXPECT_TRUE(computes(16384, 1));  // 1 GiB
  EXPECT_TRUE(computes(9000, 3));   // 309 MiB each
}

TEST(FoldConstants, HandsOnTheEvaluatorsError) {
  const Graph graph = ParseModel("def @main() { add(1f, 2f) }");
  const Target target;
  const absl::StatusOr<Graph> folded = FoldConstants(
      graph,
      {.target = target, .evaluate = [](const Graph&) -> absl::StatusOr<std::vector<Tensor>> {
         return absl::UnimplementedError("no machine");
       }});
  EXPECT_EQ(folded.status(), absl::UnimplementedError("no machine"));
}

}  // namespace
}  // namespace kiln
