// SPDX-License-Identifier: Apache-2.0
// External subgraphs and the later passes: nothing is moved into or out of a subgraph.
#include "compiler/passes/testing/run_pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kModel[] = R"(
def @main(%x: Tensor[(1, 2, 4, 4), float32], %constant: Tensor[(3, 2, 1, 1), float32]) {
  %0 = nn.relu(%x);
  %1 = fn (%a: Tensor[(1, 2, 4, 4), float32], %w: Tensor[(3, 2, 1, 1), float32], Compiler="npu", global_symbol="f") {
    nn.relu(nn.conv2d(%a, %w, kernel_size=[1, 1]))
  };
  %2 = %1(%0, %constant);
  nn.relu(nn.max_pool2d(%2, pool_size=[2, 2]))
})";

TEST(PartitionForExternal, IsDoneByWhatIsHandedIn) {
  const Graph graph = ParseModel(kModel);
  const Target target;
  int calls = 0;
  const PassContext context{
      .target = target, .evaluate = RunGraph, .partition = [&](const Graph& same) {
        ++calls;
        return same;
      }};
  EXPECT_TRUE(*PartitionForExternal(graph, context) == graph);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(*PartitionForExternal(graph, {.target = target, .evaluate = RunGraph}) == graph);
}

TEST(PartitionForExternal, LaterPassesLeaveSubgraphsAlone) {
  const Graph graph = ParseModel(kModel);
  const Target target;
  const absl::StatusOr<Graph> result =
      RunPasses(graph, {.target = target, .evaluate = RunGraph}, {});
  ASSERT_TRUE(result.ok()) << result.status();
  const std::string text = BodyText(*result);
  EXPECT_THAT(text, HasSubstr("Compiler=\"npu\", global_symbol=\"f\") {\n"
                              "  %0 = nn.conv2d(%a, %w, kernel_size=[1, 1]);\n"
                              "  nn.relu(%0)\n"
                              "};\n"));
  // The layout changes after the subgraph, and no relu joins it.
  EXPECT_THAT(text, HasSubstr("transpose("));
  EXPECT_EQ(RunGraph(graph).value(), RunGraph(*result).value());
}

TEST(PartitionForExternal, SubgraphsOfConstantsAreNotFolded) {
  int evaluations = 0;
  const Graph graph = ParseModel(R"(
  def @main(%x: Tensor[(2,), float32]) {
    %0 = fn (%a: Tensor[(2,), float32], Compiler="npu", global_symbol="f") { negative(%a) };
    %1 = fn (Compiler="npu", global_symbol="g") { negative(1f) };
    add(%1(), %0(%x))
  })");
  const absl::StatusOr<Graph> result = RunPass(FoldConstants, graph, &evaluations);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(evaluations, 0);
  EXPECT_TRUE(*result == graph);
}

}  // namespace
}  // namespace kiln
