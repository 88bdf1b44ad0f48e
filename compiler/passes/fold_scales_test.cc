// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// `%0` is the scaled product, `%constant_scale` has the given type.
std::string Scaled(const std::string& params, const std::string& product,
                   const std::string& scale) {
  return "def @main(" + params + ", %constant_scale: Tensor[" + scale + "]) { %0 = " + product +
         "; multiply(%0, %constant_scale) }";
}

constexpr char kConv[] =
    "%x: Tensor[(1, 2, 4, 4), float32], %constant_w: Tensor[(3, 2, 3, 3), float32]";

TEST(FoldScales, IntoTheWeightsOfAConvolution) {
  EXPECT_EQ(Transform(FoldScales, Scaled(kConv, "nn.conv2d(%x, %constant_w, kernel_size=[3, 3])",
                                         "(3, 1, 1), float32")),
            "%0 = reshape(meta[relay.Constant][0], newshape=[3, 1, 1, 1], allowzero=True);\n"
            "%1 = multiply(meta[relay.Constant][1], %0);\n"
            "nn.conv2d(%x, %1, kernel_size=[3, 3])\n");
}

// Checks that the model ends with `last` and multiplies only weights, biases and scales, but
// nothing that depends on the input %x.
void ExpectFolded(const std::string& model, const std::string& last) {
  const std::string text = Transform(FoldScales, model);
  EXPECT_TRUE(absl::EndsWith(text, last)) << text;
  std::set<std::string> computed = {"%x"};  // depend on the input
  int products = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(line, " = ");
    bool reads = false;
    for (const std::string& value : computed) {
      for (const char end : {',', ')'})
        reads |= absl::StrContains(line, absl::StrCat(value, std::string(1, end)));
    }
    const bool multiplies = absl::StrContains(line, "multiply(");
    EXPECT_FALSE(reads && multiplies) << line << "\nin\n" << text;
    if (multiplies) ++products;
    if (reads && parts.size() == 2) computed.insert(parts[0]);
  }
  EXPECT_GT(products, 0) << text;
}

TEST(FoldScales, WhereverTheChannelsAre) {
  ExpectFolded(Scaled(kConv, "nn.conv2d(%x, %constant_w, kernel_size=[3, 3])", "(), float32"),
               "nn.conv2d(%x, %1, kernel_size=[3, 3])\n");
  ExpectFolded(
      Scaled("%x: Tensor[(1, 4, 4, 2), float32], %constant_w: Tensor[(3, 3, 2, 5), float32]",
             "nn.conv2d(%x, %constant_w, kernel_size=[3, 3], data_layout=\"NHWC\", "
             "kernel_layout=\"HWIO\")",
             "(5,), float32"),
      "kernel_size=[3, 3], data_layout=\"NHWC\", kernel_layout=\"HWIO\")\n");
  ExpectFolded(
      Scaled("%x: Tensor[(1, 4, 4, 4), float32], %constant_w: Tensor[(4, 1, 3, 3), float32]",
             "nn.conv2d(%x, %constant_w, kernel_size=[3, 3], groups=4, channels=4)",
             "(4, 1, 1), float32"),
      "nn.conv2d(%x, %1, groups=4, channels=4, kernel_size=[3, 3])\n");
  ExpectFolded(Scaled("%x: Tensor[(2, 5), float32], %constant_w: Tensor[(3, 5), float32]",
                      "nn.dense(%x, %constant_w)", "(3,), float32"),
               "nn.dense(%x, %1)\n");
}

TEST(FoldScales, IntoEveryConvolution) {
  ExpectFolded(Scaled("%x: Tensor[(1, 2, 4), float32], %constant_w: Tensor[(3, 2, 3), float32]",
                      "nn.conv1d(%x, %constant_w, kernel_size=[3])", "(3, 1), float32"),
               "nn.conv1d(%x, %1, kernel_size=[3])\n");
  ExpectFolded(
      Scaled("%x: Tensor[(1, 2, 4, 4), float32], %constant_w: Tensor[(2, 3, 3, 3), float32]",
             "nn.conv2d_transpose(%x, %constant_w, channels=3, kernel_size=[3, 3])",
             "(3, 1, 1), float32"),
      "nn.conv2d_transpose(%x, %1, channels=3, kernel_size=[3, 3])\n");
  ExpectFolded(
      Scaled("%x: Tensor[(1, 4, 4, 4), float32], %constant_w: Tensor[(3, 3, 4, 1), float32]",
             "nn.conv2d(%x, %constant_w, kernel_size=[3, 3], groups=4, channels=4, "
             "data_layout=\"NHWC\", kernel_layout=\"HWOI\")",
             "(4,), float32"),
      "kernel_size=[3, 3], data_layout=\"NHWC\", kernel_layout=\"HWOI\")\n");
}

TEST(FoldScales, OnEitherSideOfTheProduct) {
  ExpectFolded(R"(
def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(3, 5), float32]) {
  multiply(2f, nn.dense(%x, %constant_w))
})",
               "nn.dense(%x, %1)\n");
}

TEST(FoldScales, IntoTheBiasToo) {
  ExpectFolded(R"(
def @main(%x: Tensor[(1, 2, 4, 4), float32], %constant_w: Tensor[(3, 2, 1, 1), float32],
          %constant_bias: Tensor[(3,), float32], %constant_scale: Tensor[(3, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %constant_w, kernel_size=[1, 1]);
  %1 = nn.bias_add(%0, %constant_bias);
  multiply(%1, %constant_scale)
})",
               "nn.bias_add(%2, %4)\n");
  ExpectFolded(R"(
def @main(%x: Tensor[(1, 2, 4, 4), float32], %constant_w: Tensor[(3, 2, 1, 1), float32],
          %constant_bias: Tensor[(3,), float32]) {
  %0 = nn.conv2d(%x, %constant_w, kernel_size=[1, 1]);
  multiply(nn.bias_add(%0, %constant_bias), 2f)
})",
               "nn.bias_add(%2, %4)\n");
  ExpectFolded(R"(
def @main(%x: Tensor[(1, 2, 4, 4), float32], %constant_w: Tensor[(3, 2, 1, 1), float32],
          %constant_bias: Tensor[(3, 1, 1), float32], %constant_scale: Tensor[(3, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %constant_w, kernel_size=[1, 1]);
  multiply(add(%0, %constant_bias), %constant_scale)
})",
               "add(%2, %3)\n");
}

TEST(FoldScales, OfAQuotient) {
  ExpectFolded(R"(
def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(3, 5), float32]) {
  divide(nn.dense(%x, %constant_w), 8f)
})",
               "nn.dense(%x, %2)\n");
}

// Attention: scores / sqrt(width) is folded into the weights and the bias of the queries.
TEST(FoldScales, OneNumberGoesThroughMovesAndProducts) {
  ExpectFolded(R"(
def @main(%x: Tensor[(4, 6), float32], %constant_w: Tensor[(6, 6), float32],
          %constant_b: Tensor[(6,), float32], %keys: Tensor[(2, 3, 4), float32],
          %constant_s: Tensor[(1, 1, 1), float32]) {
  %0 = add(nn.dense(%x, %constant_w), %constant_b);
  %1 = transpose(reshape(%0, newshape=[4, 2, 3]), axes=[1, 0, 2]);
  divide(nn.batch_matmul(%1, %keys, transpose_b=False), %constant_s)
})",
               "nn.batch_matmul(%8, %keys)\n");
}

// Scales that are computed from constants are folded first.
TEST(FoldScales, SeesThroughComputationsOfConstants) {
  ExpectFolded(R"(
def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(3, 5), float32], %constant: Tensor[(3,), float32]) {
  multiply(nn.dense(%x, %constant_w), sqrt(%constant))
})",
               "nn.dense(%x, %1)\n");
}

// A batch norm that is written out, followed by a further scale.
TEST(FoldScales, OneBehindTheOther) {
  ExpectFolded(R"(
def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(3, 5), float32], %constant_a: Tensor[(3,), float32],
          %constant_b: Tensor[(3,), float32], %constant_c: Tensor[(3,), float32]) {
  %0 = multiply(nn.dense(%x, %constant_w), %constant_a);
  multiply(add(%0, %constant_b), %constant_c)
})",
               "add(%2, %3)\n");
}

class LeavesAlone : public testing::TestWithParam<const char*> {};

TEST_P(LeavesAlone, Model) {
  const Graph graph = ParseModel(GetParam());
  const absl::StatusOr<Graph> after = RunPass(FoldScales, graph);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_TRUE(*after == graph) << BodyText(*after);
}

INSTANTIATE_TEST_SUITE_P(
    FoldScales, LeavesAlone,
    testing::Values(
        // The scale differs within a channel.
        R"(def @main(%x: Tensor[(1, 2, 4, 4), float32], %constant_w: Tensor[(3, 2, 1, 1), float32],
                 %constant_scale: Tensor[(4,), float32]) {
         multiply(nn.conv2d(%x, %constant_w, kernel_size=[1, 1]), %constant_scale)
       })",
        // The scale makes the result larger.
        R"(def @main(%x: Tensor[(1, 5), float32], %constant_w: Tensor[(3, 5), float32],
                 %constant_scale: Tensor[(2, 1), float32]) {
         multiply(nn.dense(%x, %constant_w), %constant_scale)
       })",
        // The outputs are spread over two axes of the weight.
        R"(def @main(%x: Tensor[(1, 4, 4, 4), float32], %constant_w: Tensor[(4, 2, 3, 3), float32],
                 %constant_scale: Tensor[(8, 1, 1), float32]) {
         multiply(nn.conv2d(%x, %constant_w, kernel_size=[3, 3], groups=4, channels=8), %constant_scale)
       })",
        // Something else reads the scaled product.
        R"(def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(3, 5), float32]) {
         %0 = nn.dense(%x, %constant_w);
         add(multiply(%0, 2f), %0)
       })",
        // The scaled product is an output.
        R"(def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(3, 5), float32]) {
         %0 = nn.dense(%x, %constant_w);
         (multiply(%0, 2f), %0)
       })",
        // Queries, keys and values are parts of one product, and only the keys are scaled.
        R"(def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(6, 5), float32]) {
         %0 = split(nn.dense(%x, %constant_w), indices_or_sections=3, axis=1);
         (%0.0, multiply(%0.1, 0.5f), %0.2)
       })",
        // The same if only the scaled part is read.
        R"(def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(6, 5), float32]) {
         %0 = split(nn.dense(%x, %constant_w), indices_or_sections=3, axis=1);
         multiply(reshape(%0.1, newshape=[4]), 0.5f)
       })",
        // The product is only a part of the scaled value.
        R"(def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(6, 5), float32]) {
         multiply(concatenate((nn.dense(%x, %constant_w), %x), axis=1), 0.5f)
       })",
        R"(def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(5, 5), float32]) {
         multiply(stack((nn.dense(%x, %constant_w), %x), axis=1), 0.5f)
       })",
        // The weights, the scale, the bias are computed.
        R"(def @main(%x: Tensor[(2, 5), float32], %w: Tensor[(3, 5), float32]) {
         multiply(nn.dense(%x, %w), 2f)
       })",
        R"(def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(3, 5), float32], %s: Tensor[(3,), float32]) {
         multiply(nn.dense(%x, %constant_w), %s)
       })",
        R"(def @main(%x: Tensor[(2, 5), float32], %constant_w: Tensor[(3, 5), float32], %b: Tensor[(3,), float32]) {
         multiply(add(nn.dense(%x, %constant_w), %b), 2f)
       })",
        // Integers would wrap differently; float16 would round too much.
        R"(def @main(%x: Tensor[(2, 5), int32], %constant_w: Tensor[(3, 5), int32]) {
         multiply(nn.dense(%x, %constant_w), 2)
       })",
        R"(def @main(%x: Tensor[(2, 5), float16], %constant_w: Tensor[(3, 5), float16]) {
         multiply(nn.dense(%x, %constant_w), 2f16)
       })",
        // Not a sum of products.
        R"(def @main(%x: Tensor[(2, 5), float32]) {
         multiply(nn.relu(%x), 2f)
       })"));

}  // namespace
}  // namespace kiln
