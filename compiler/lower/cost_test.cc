// SPDX-License-Identifier: Apache-2.0
// The cost that lowering states for the functions of a model.
#include "absl/strings/string_view.h"
#include "compiler/loop/loop.h"
#include "compiler/lower/testing/lower_model.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

loop::Cost CostOfModel(absl::string_view model) {
  const Lowered lowered = LowerModel(model);
  EXPECT_EQ(lowered.calls.size(), 1u);
  return lowered.calls.at(0).cost.value();
}

TEST(Cost, OfAConvolutionWithWhatIsFusedToIt) {
  // 6 x 6 places of 4 channels, each with 3 x 3 taps over 2 channels. Bias and maximum follow.
  EXPECT_EQ(CostOfModel(R"(
def @main(%x: Tensor[(1, 2, 6, 6), float32], %constant_w: Tensor[(4, 2, 3, 3), float32], %constant_b: Tensor[(4), float32]) {
  %0 = fn (%p: Tensor[(1, 2, 6, 6), float32], %w: Tensor[(4, 2, 3, 3), float32], %b: Tensor[(4), float32], Primitive=1) {
    nn.relu(nn.bias_add(nn.conv2d(%p, %w, padding=[1, 1]), %b))
  };
  %0(%x, %constant_w, %constant_b)
})"),
            (loop::Cost{6 * 6 * 4 * (2 * 3 * 3 * 2 + 1 + 1),
                        4 * (2 * 6 * 6 + 4 * 2 * 3 * 3 + 4 + 4 * 6 * 6)}));
}

TEST(Cost, OfADepthwiseConvolution) {
  EXPECT_EQ(CostOfModel(R"(
def @main(%x: Tensor[(1, 8, 6, 6), float32], %constant_w: Tensor[(8, 1, 3, 3), float32]) {
  nn.conv2d(%x, %constant_w, groups=8, strides=[2, 2], padding=[1, 1])
})")
                .operations,
            3 * 3 * 8 * (3 * 3 * 2));
}

TEST(Cost, OfADenseLayer) {
  EXPECT_EQ(CostOfModel(R"(
def @main(%x: Tensor[(3, 16), float32], %constant_w: Tensor[(10, 16), float32]) {
  nn.dense(%x, %constant_w, units=10)
})"),
            (loop::Cost{2 * 3 * 16 * 10, 4 * (3 * 16 + 10 * 16 + 3 * 10)}));
  // Integers: int8 is read and int32 is written.
  EXPECT_EQ(CostOfModel(R"(
def @main(%x: Tensor[(3, 16), int8], %constant_w: Tensor[(10, 16), int8]) {
  nn.dense(%x, %constant_w, units=10, out_dtype="int32")
})"),
            (loop::Cost{2 * 3 * 16 * 10, 3 * 16 + 10 * 16 + 4 * 3 * 10}));
}

TEST(Cost, OfAnElementwiseOperator) {
  EXPECT_EQ(CostOfModel(R"(
def @main(%x: Tensor[(4, 5), float32], %y: Tensor[(5), float32]) {
  add(%x, %y)
})"),
            (loop::Cost{4 * 5, 4 * (4 * 5 + 5 + 4 * 5)}));
}

TEST(Cost, OfASoftmax) {
  // Operations of exp for a difference that is not positive. exp of any number takes more.
  constexpr int64_t exp = 22;
  EXPECT_LT(exp, CostOfModel("def @main(%x: Tensor[(1,), float32]) { exp(%x) }").operations);
  // For each element of 3 rows of 10: the maximum, the exponential of the difference, the sum and a
  // multiplication. Each row has one division.
  EXPECT_EQ(CostOfModel("def @main(%x: Tensor[(3, 10), float32]) { nn.softmax(%x) }"),
            (loop::Cost{3 * (10 * (1 + (1 + exp) + 1 + 1) + 1), 4 * (3 * 10 + 3 * 10)}));
}

// The exponent is a literal when the power is written out.
TEST(Cost, OfAPowerByAConstant) {
  EXPECT_EQ(CostOfModel("def @main(%x: Tensor[(3, 4), float32]) { power(%x, 2f) }").operations, 12);
  EXPECT_EQ(CostOfModel("def @main(%x: Tensor[(3, 4), float32]) { power(%x, -1f) }").operations,
            12);
}

TEST(Cost, OfExternalSubgraphsIsThatOfTheirOperatorsAndViewsHaveNone) {
  const Lowered lowered = LowerModel(R"(
def @main(%x: Tensor[(2, 4), float32]) {
  %0 = fn (%p: Tensor[(2, 4), float32], Compiler="npu", global_symbol="tvmgen_mod_npu_main_0") {
    %0 = fn (%q: Tensor[(2, 4), float32], Composite="npu.pair", Primitive=1) { nn.relu(abs(%q)) };
    negative(%0(%p))
  };
  reshape(%0(%x), newshape=[8])
})");
  ASSERT_EQ(lowered.calls.size(), 2u);
  EXPECT_EQ(lowered.calls[0].cost, (loop::Cost{3 * 8, 4 * (8 + 8)}));
  EXPECT_EQ(lowered.calls[1].cost, std::nullopt);
}

}  // namespace
}  // namespace kiln
