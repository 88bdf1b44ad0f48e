// SPDX-License-Identifier: Apache-2.0
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

// What nothing reads is left out, not computed.
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

// Weights are packed where they are constants.
TEST(FoldConstants, ComputesWeightsHoweverLarge) {
  EXPECT_EQ(Transform(FoldConstants, R"(
def @main(%x: Tensor[(1, 1024), float32]) {
  %0 = broadcast_to(1f, shape=[1024, 1024]);
  nn.dense(%x, transpose(%0), units=None)
})"),
            "nn.dense(%x, meta[relay.Constant][0])\n");
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
