// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(EliminateCommonSubexpressions, ComputesOnceWhatIsWrittenTwice) {
  EXPECT_EQ(Transform(EliminateCommonSubexpressions, R"(
def @main(%x: Tensor[(2,), float32]) {
  add(exp(nn.relu(%x)), exp(nn.relu(%x)))
})"),
            "%0 = nn.relu(%x);\n%1 = exp(%0);\nadd(%1, %1)\n");
}

TEST(EliminateCommonSubexpressions, OfNodesWithSeveralOutputs) {
  EXPECT_EQ(Transform(EliminateCommonSubexpressions, R"(
def @main(%x: Tensor[(4,), float32]) {
  %0 = split(%x, indices_or_sections=2);
  %1 = split(%x, indices_or_sections=2);
  add(%0.0, %1.1)
})"),
            "%0 = split(%x, indices_or_sections=2);\nadd(%0.0, %0.1)\n");
}

TEST(EliminateCommonSubexpressions, OverEqualConstants) {
  EXPECT_EQ(Transform(EliminateCommonSubexpressions, R"(
def @main(%x: Tensor[(2,), float32], %constant_a: Tensor[(2,), float32], %constant_b: Tensor[(2,), float32]) {
  multiply(add(%x, %constant_a), add(%x, %constant_b))
})"),
            "%0 = add(%x, meta[relay.Constant][0]);\nmultiply(%0, %0)\n");
}

TEST(EliminateCommonSubexpressions, OfOutputs) {
  EXPECT_EQ(Transform(EliminateCommonSubexpressions, R"(
def @main(%x: Tensor[(2,), float32]) {
  (nn.relu(%x), nn.relu(%x))
})"),
            "%0 = nn.relu(%x);\n(%0, %0)\n");
}

class CseLeavesAlone : public testing::TestWithParam<const char*> {};

TEST_P(CseLeavesAlone, Model) {
  const Graph graph = ParseModel(GetParam());
  const absl::StatusOr<Graph> after = RunPass(EliminateCommonSubexpressions, graph);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_TRUE(*after == graph) << BodyText(*after);
}

INSTANTIATE_TEST_SUITE_P(EliminateCommonSubexpressions, CseLeavesAlone,
                         testing::Values(
                             // Other attributes, other inputs, other order, another operator.
                             R"(def @main(%x: Tensor[(2, 2), float32]) {
             (sum(%x, axis=[0]), sum(%x, axis=[1]))
           })",
                             R"(def @main(%x: Tensor[(2,), float32], %y: Tensor[(2,), float32]) {
             (nn.relu(%x), nn.relu(%y), subtract(%x, %y), subtract(%y, %x), exp(%x))
           })",
                             // The same bits of another dtype are another constant.
                             R"(def @main(%x: Tensor[(), float32], %y: Tensor[(), int32]) {
             (add(%x, 0f), add(%y, 0))
           })",
                             // Groups stay as they are.
                             R"(def @main(%x: Tensor[(2,), float32]) {
             %0 = fn (%p: Tensor[(2,), float32], Primitive=1) { nn.relu(%p) };
             %1 = fn (%p: Tensor[(2,), float32], Primitive=1) { nn.relu(%p) };
             (%0(%x), %1(%x))
           })"));

}  // namespace
}  // namespace kiln
