// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(CopyOutputs, OfInputsConstantsAndTheirViews) {
  EXPECT_EQ(Transform(CopyOutputs, R"(
def @main(%x: Tensor[(2, 3), float32]) {
  (%x, 2f, reshape(%x, newshape=[6]))
})"),
            "%0 = reshape(%x, newshape=[6]);\n"
            "%1 = copy(%x);\n"
            "%2 = copy(2f);\n"
            "%3 = copy(%0);\n"
            "(%1, %2, %3)\n");
}

TEST(CopyOutputs, OfTheSameMemoryAsAnotherOutput) {
  EXPECT_EQ(Transform(CopyOutputs, R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = nn.relu(%x);
  (%0, reshape(%0, newshape=[6]), %0)
})"),
            "%0 = nn.relu(%x);\n"
            "%1 = reshape(%0, newshape=[6]);\n"
            "%2 = copy(%1);\n"
            "%3 = copy(%0);\n"
            "(%0, %2, %3)\n");
}

TEST(CopyOutputs, LeavesOutputsWithMemoryOfTheirOwn) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = nn.relu(%x);
  %1 = exp(%x);
  (reshape(%0, newshape=[6]), %1, reshape(2f, newshape=[1]))
})");
  const absl::StatusOr<Graph> after = RunPass(CopyOutputs, graph);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_TRUE(*after == graph) << BodyText(*after);
}

}  // namespace
}  // namespace kiln
