// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "absl/strings/match.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr char kMain[] = R"(
def @main(%x: Tensor[(1, 2, 4, 5), float32], %w: Tensor[(3, 2, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, kernel_size=[1, 1]);
)";

// The lines after the convolution, whose result is %1 in channels-last layout.
std::string AfterConvolution(const std::string& rest) {
  const std::string text = Transform(ConvertLayout, kMain + rest + "}");
  const std::string begin =
      "%0 = transpose(%x, axes=[0, 2, 3, 1]);\n"
      "%1 = nn.conv2d(%0, %w, kernel_size=[1, 1], data_layout=\"NHWC\");\n";
  EXPECT_TRUE(absl::StartsWith(text, begin)) << text;
  return text.size() < begin.size() ? text : text.substr(begin.size());
}

TEST(ConvertLayout, ConvolutionsAreChannelsLastInside) {
  EXPECT_EQ(AfterConvolution("%0"), "transpose(%1, axes=[0, 3, 1, 2])\n");
}

TEST(ConvertLayout, ElementwiseOperatorsFollow) {
  EXPECT_EQ(AfterConvolution("%1 = nn.relu(%0); add(%1, %0)"),
            "%2 = nn.relu(%1);\n%3 = add(%2, %1);\ntranspose(%3, axes=[0, 3, 1, 2])\n");
}

TEST(ConvertLayout, OperandsThatBroadcastAreMovedToo) {
  EXPECT_EQ(AfterConvolution("add(%0, 1f)"),
            "%2 = add(%1, 1f);\ntranspose(%2, axes=[0, 3, 1, 2])\n");
  const std::string text = Transform(ConvertLayout, R"(
def @main(%x: Tensor[(1, 2, 4, 5), float32], %w: Tensor[(3, 2, 1, 1), float32],
          %b: Tensor[(3, 1, 1), float32], %c: Tensor[(5,), float32]) {
  add(add(nn.conv2d(%x, %w, kernel_size=[1, 1]), %b), %c)
})");
  EXPECT_TRUE(absl::StrContains(text, "reshape(%b, newshape=[1, 1, 1, 3], allowzero=True)"))
      << text;
  EXPECT_TRUE(absl::StrContains(text, "reshape(%c, newshape=[1, 1, 5, 1], allowzero=True)"))
      << text;
}

TEST(ConvertLayout, AxesMoveWithTheChannels) {
  EXPECT_EQ(AfterConvolution("nn.softmax(%0, axis=1)"),
            "%2 = nn.softmax(%1, axis=3);\ntranspose(%2, axes=[0, 3, 1, 2])\n");
  EXPECT_EQ(AfterConvolution("nn.softmax(%0)"),
            "%2 = nn.softmax(%1, axis=2);\ntranspose(%2, axes=[0, 3, 1, 2])\n");
  EXPECT_EQ(AfterConvolution("concatenate((%0, %0), axis=1)"),
            "%2 = concatenate((%1, %1), axis=3);\ntranspose(%2, axes=[0, 3, 1, 2])\n");
  EXPECT_EQ(AfterConvolution("nn.pad(%0, 0f, pad_width=[[0, 0], [1, 2], [3, 4], [5, 6]])"),
            "%2 = nn.pad(%1, 0f, pad_width=[[0, 0], [3, 4], [5, 6], [1, 2]]);\n"
            "transpose(%2, axes=[0, 3, 1, 2])\n");
}

TEST(ConvertLayout, SlicesAndPartsFollow) {
  const std::string back = "transpose(%2, axes=[0, 3, 1, 2])\n";
  EXPECT_EQ(AfterConvolution("strided_slice(%0, begin=[1], end=[3], axes=[1])"),
            "%2 = strided_slice(%1, begin=[1], end=[3], axes=[3]);\n" + back);
  EXPECT_EQ(AfterConvolution("strided_slice(%0, begin=[0, 0, 1], end=[1, 3, 4])"),
            "%2 = strided_slice(%1, begin=[0, 0, 1], end=[1, 3, 4], axes=[0, 3, 1]);\n" + back);
  EXPECT_EQ(AfterConvolution("reverse(%0, axis=[1, -1])"),
            "%2 = reverse(%1, axis=[3, 2]);\n" + back);
  EXPECT_EQ(AfterConvolution("tile(%0, reps=[1, 2, 3, 4])"),
            "%2 = tile(%1, reps=[1, 3, 4, 2]);\n" + back);
  EXPECT_EQ(AfterConvolution("nn.mirror_pad(%0, pad_width=[[0, 0], [0, 0], [1, 1], [2, 2]])"),
            "%2 = nn.mirror_pad(%1, pad_width=[[0, 0], [1, 1], [2, 2], [0, 0]]);\n" + back);
  EXPECT_EQ(AfterConvolution("%1 = split(%0, indices_or_sections=3, axis=1); "
                             "concatenate((%1.2, nn.relu(%1.0)), axis=1)"),
            "%2 = split(%1, indices_or_sections=3, axis=3);\n"
            "%3 = nn.relu(%2.0);\n"
            "%4 = concatenate((%2.2, %3), axis=3);\n"
            "transpose(%4, axes=[0, 3, 1, 2])\n");
}

TEST(ConvertLayout, NormsAndSlopesPerChannelFollow) {
  const auto body = [](const std::string& op) {
    return Transform(ConvertLayout,
                     "def @main(%x: Tensor[(1, 2, 4, 5), float32], %w: Tensor[(3, 2, 1, 1), "
                     "float32], %s: Tensor[(3,), float32]) { %0 = nn.conv2d(%x, %w, "
                     "kernel_size=[1, 1]); " +
                         op + " }");
  };
  for (const char* op : {"nn.prelu(%0, %s)", "nn.instance_norm(%0, %s, %s)",
                         "nn.layer_norm(%0, %s, %s, axis=1)", "nn.fast_softmax(%0, axis=1)"}) {
    const std::string text = body(op);
    EXPECT_TRUE(absl::StrContains(text, "axis=3")) << text;
    EXPECT_TRUE(absl::EndsWith(text, "transpose(%2, axes=[0, 3, 1, 2])\n")) << text;
  }
}

TEST(ConvertLayout, OperatorsWithALayoutOfTheirOwn) {
  EXPECT_EQ(AfterConvolution("nn.max_pool2d(%0, pool_size=[2, 2])"),
            "%2 = nn.max_pool2d(%1, pool_size=[2, 2], layout=\"NHWC\");\n"
            "transpose(%2, axes=[0, 3, 1, 2])\n");
  EXPECT_EQ(AfterConvolution("nn.global_avg_pool2d(%0)"),
            "%2 = nn.global_avg_pool2d(%1, layout=\"NHWC\");\n"
            "reshape(%2, newshape=[1, 3, 1, 1], allowzero=True)\n");
  EXPECT_EQ(AfterConvolution("nn.upsampling(%0, scale_h=2f, scale_w=2f)"),
            "%2 = nn.upsampling(%1, scale_h=2f, scale_w=2f, layout=\"NHWC\");\n"
            "transpose(%2, axes=[0, 3, 1, 2])\n");
}

TEST(ConvertLayout, ReductionsReadTheNewLayout) {
  EXPECT_EQ(AfterConvolution("mean(%0, axis=[2, 3], keepdims=True)"),
            "%2 = mean(%1, axis=[1, 2], keepdims=True);\n"
            "reshape(%2, newshape=[1, 3, 1, 1], allowzero=True)\n");
  EXPECT_EQ(AfterConvolution("mean(%0, axis=[-1, -2])"), "mean(%1, axis=[1, 2])\n");
  EXPECT_EQ(AfterConvolution("max(%0, axis=[1])"), "max(%1, axis=[3])\n");
  EXPECT_EQ(AfterConvolution("prod(%0, axis=[1])"), "prod(%1, axis=[3])\n");
  EXPECT_EQ(AfterConvolution("argmax(%0, axis=[1])"), "argmax(%1, axis=[3])\n");
  // Channels and height would be counted in another order.
  EXPECT_EQ(AfterConvolution("argmax(%0, axis=[1, 2], keepdims=True)"),
            "%2 = transpose(%1, axes=[0, 3, 1, 2]);\n"
            "argmax(%2, axis=[1, 2], keepdims=True)\n");
}

TEST(ConvertLayout, AxesOfAQuantisedMeanMoveToo) {
  EXPECT_EQ(AfterConvolution("qnn.mean(qnn.quantize(%0, 0.5f, 3), 0.5f, 3, 0.25f, 1, axis=[2, 3], "
                             "keepdims=True)"),
            "%2 = qnn.quantize(%1, 0.5f, 3, axis=2);\n"
            "%3 = qnn.mean(%2, 0.5f, 3, 0.25f, 1, axis=[1, 2], keepdims=True);\n"
            "reshape(%3, newshape=[1, 3, 1, 1], allowzero=True)\n");
}

TEST(ConvertLayout, ChannelsAreSplitBehindTheOthers) {
  const std::string shuffle =
      "%1 = reshape(nn.conv2d(%0, %v, kernel_size=[1, 1]), newshape=[1, 2, 3, 4, 5]);\n"
      "%2 = nn.relu(transpose(%1, axes=[0, 2, 1, 3, 4]));\n";
  const auto body = [&](const std::string& rest) {
    const std::string text =
        Transform(ConvertLayout,
                  "def @main(%x: Tensor[(1, 2, 4, 5), float32],"
                  " %w: Tensor[(3, 2, 1, 1), float32], %v: Tensor[(6, 3, 1, 1), float32]) {"
                  "%0 = nn.conv2d(%x, %w, kernel_size=[1, 1]);\n" +
                      shuffle + rest + "}");
    return text.substr(std::min(text.find("%3 ="), text.size()));
  };
  const std::string shuffled =
      "%3 = reshape(%2, newshape=[1, 4, 5, 2, 3], allowzero=True);\n"
      "%4 = transpose(%3, axes=[0, 1, 2, 4, 3]);\n"
      "%5 = nn.relu(%4);\n";
  EXPECT_EQ(body("reshape(%2, newshape=[1, 6, 4, 5])"),
            shuffled +
                "%6 = reshape(%5, newshape=[1, 4, 5, 6], allowzero=True);\n"
                "transpose(%6, axes=[0, 3, 1, 2])\n");
  // The channels of an operand that broadcasts are split in the same way.
  EXPECT_EQ(body("add(%2, reshape(%x, newshape=[2, 4, 5]))"),
            shuffled +
                "%6 = reshape(%x, newshape=[1, 1, 2, 4, 5], allowzero=True);\n"
                "%7 = transpose(%6, axes=[0, 3, 4, 1, 2]);\n"
                "%8 = add(%5, %7);\n"
                "transpose(%8, axes=[0, 3, 4, 1, 2])\n");
  // An operator that moves H or W reads the model's layout.
  EXPECT_EQ(body("transpose(%2, axes=[0, 1, 2, 4, 3])"),
            shuffled + "transpose(%5, axes=[0, 3, 4, 2, 1])\n");
  EXPECT_EQ(body("reshape(%2, newshape=[1, 3, 4, 10])"),
            shuffled +
                "%6 = transpose(%5, axes=[0, 3, 4, 1, 2]);\n"
                "reshape(%6, newshape=[1, 3, 4, 10], allowzero=True)\n");
}

TEST(ConvertLayout, OthersGetTheirOwnLayoutBack) {
  EXPECT_EQ(AfterConvolution("mean(%0, axis=[2])"),
            "%2 = transpose(%1, axes=[0, 3, 1, 2]);\nmean(%2, axis=[2])\n");
  EXPECT_EQ(AfterConvolution("reshape(%0, newshape=[60])"),
            "%2 = transpose(%1, axes=[0, 3, 1, 2]);\nreshape(%2, newshape=[60], allowzero=True)\n");
  // One transpose serves all readers.
  EXPECT_EQ(AfterConvolution("(stack((%0, %0), axis=1), %0)"),
            "%2 = transpose(%1, axes=[0, 3, 1, 2]);\n%3 = stack((%2, %2), axis=1);\n(%3, %2)\n");
}

TEST(ConvertLayout, NoTransposesBetweenConvolutions) {
  EXPECT_EQ(AfterConvolution(
                "nn.conv2d(nn.relu(%0), reshape(%w, newshape=[2, 3, 1, 1]), kernel_size=[1, 1])"),
            "%2 = nn.relu(%1);\n"
            "%3 = reshape(%w, newshape=[2, 3, 1, 1], allowzero=True);\n"
            "%4 = nn.conv2d(%2, %3, kernel_size=[1, 1], data_layout=\"NHWC\");\n"
            "transpose(%4, axes=[0, 3, 1, 2])\n");
}

class LayoutLeavesAlone : public testing::TestWithParam<const char*> {};

TEST_P(LayoutLeavesAlone, Model) {
  const Graph graph = ParseModel(GetParam());
  const absl::StatusOr<Graph> after = RunPass(ConvertLayout, graph);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_TRUE(*after == graph) << BodyText(*after);
}

INSTANTIATE_TEST_SUITE_P(
    ConvertLayout, LayoutLeavesAlone,
    testing::Values(
        // Already channels-last.
        R"(def @main(%x: Tensor[(1, 4, 5, 2), float32], %w: Tensor[(3, 2, 1, 1), float32]) {
             nn.conv2d(%x, %w, kernel_size=[1, 1], data_layout="NHWC")
           })",
        // No convolution that would start the conversion.
        R"(def @main(%x: Tensor[(1, 2, 4, 5), float32]) {
             nn.softmax(add(%x, nn.relu(%x)), axis=1)
           })",
        // A convolution along one dimension.
        R"(def @main(%x: Tensor[(1, 2, 4), float32], %w: Tensor[(3, 2, 1), float32]) {
             nn.conv1d(%x, %w, kernel_size=[1])
           })"));

}  // namespace
}  // namespace kiln
