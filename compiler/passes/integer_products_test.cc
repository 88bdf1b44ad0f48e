// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// Transform also compares the results of both graphs.
std::string Rewritten(const std::string& model) { return Transform(IntegerProducts, model); }

constexpr char kData[] = "%x: Tensor[(1, 2, 4, 4), int8]";
constexpr char kWeight[] =
    "%constant_w: Tensor[(3, 2, 3, 3), int8], %constant_s: Tensor[(3,), float32]";

TEST(IntegerProducts, OfAConvolutionPerChannel) {
  const std::string text = Rewritten(absl::StrCat("def @main(", kData, ", ", kWeight, R"() {
  %0 = qnn.dequantize(%x, 0.5f, 3);
  %1 = qnn.dequantize(%constant_w, %constant_s, 0, axis=0);
  %2 = nn.conv2d(%0, %1, padding=[1, 1], kernel_size=[3, 3]);
  qnn.quantize(%2, 2f, -5, rounding="EVEN")
})"));
  EXPECT_EQ(text,
            "%0 = qnn.conv2d(%x, meta[relay.Constant][0], 0.5f, 3, meta[relay.Constant][1], 0, "
            "padding=[1, 1], kernel_size=[3, 3], out_dtype=\"int32\");\n"
            "qnn.requantize(%0, meta[relay.Constant][2], 0, 2f, -5, axis=1, rounding=\"EVEN\", "
            "compute_dtype=\"float32\", out_dtype=\"int8\")\n");
}

// Each of the four places that a place of data becomes has these scales.
TEST(IntegerProducts, OfATransposedConvolutionPerChannel) {
  EXPECT_EQ(Rewritten(absl::StrCat("def @main(", kData, R"(,
    %constant_w: Tensor[(2, 3, 3, 3), int8], %constant_s: Tensor[(3,), float32]) {
  %0 = qnn.dequantize(%x, 0.5f, 3);
  %1 = qnn.dequantize(%constant_w, %constant_s, 0, axis=1);
  %2 = nn.conv2d_transpose(%0, %1, strides=[2, 2]);
  qnn.quantize(%2, 2f, -5, rounding="EVEN")
})")),
            "%0 = qnn.conv2d(%x, meta[relay.Constant][0], 0.5f, 3, meta[relay.Constant][1], 0, "
            "padding=[1, 1, 1, 1], out_dtype=\"int32\");\n"
            "%1 = nn.depth_to_space(%0, block_size=2);\n"
            "%2 = strided_slice(%1, begin=[0], end=[9], axes=[2]);\n"
            "%3 = strided_slice(%2, begin=[0], end=[9], axes=[3]);\n"
            "qnn.requantize(%3, meta[relay.Constant][2], 0, 2f, -5, axis=1, rounding=\"EVEN\", "
            "compute_dtype=\"float32\", out_dtype=\"int8\")\n");
}

TEST(IntegerProducts, OfADenseLayerWhoseWeightIsTransposed) {
  EXPECT_EQ(Rewritten(R"(
def @main(%x: Tensor[(2, 5), uint8], %constant_w: Tensor[(5, 3), int8], %constant_s: Tensor[(3,), float32]) {
  %0 = qnn.dequantize(%x, 0.5f, 128);
  %1 = qnn.dequantize(%constant_w, %constant_s, 0, axis=1);
  %2 = transpose(%1, axes=[1, 0]);
  %3 = nn.dense(%0, %2, units=3);
  nn.relu(%3)
})"),
            "%0 = transpose(meta[relay.Constant][0], axes=[1, 0]);\n"
            "%1 = qnn.dense(%x, %0, 0.5f, 128, meta[relay.Constant][1], 0, units=3, "
            "out_dtype=\"int32\");\n"
            "%2 = qnn.dequantize(%1, meta[relay.Constant][2], 0, axis=1);\n"
            "nn.relu(%2)\n");
}

TEST(IntegerProducts, OfADenseLayerWhoseScaleIsComputed) {
  EXPECT_EQ(
      Rewritten(R"(
def @main(%x: Tensor[(2, 5), uint8], %s: Tensor[(1,), float32], %z: Tensor[(), int32], %constant_w: Tensor[(3, 5), int8], %constant_s: Tensor[(3,), float32]) {
  %0 = qnn.dequantize(%x, %s, %z);
  %1 = qnn.dequantize(%constant_w, %constant_s, 0, axis=0);
  nn.dense(%0, %1, units=3)
})"),
      "%0 = qnn.dense(%x, meta[relay.Constant][0], %s, %z, meta[relay.Constant][1], 0, units=3, "
      "out_dtype=\"int32\");\n"
      "%1 = reshape(%s, newshape=[]);\n"
      "%2 = multiply(%1, meta[relay.Constant][2]);\n"
      "%3 = cast(%0, dtype=\"float32\");\n"
      "multiply(%3, %2)\n");
}

TEST(IntegerProducts, OfAConvolutionWhoseScaleIsComputed) {
  const auto model = [](absl::string_view padding) {
    return absl::StrCat("def @main(", kData, ", %s: Tensor[(), float32], %z: Tensor[(), int32], ",
                        kWeight, R"() {
  %0 = qnn.dequantize(%x, %s, %z);
  %1 = qnn.dequantize(%constant_w, %constant_s, 0, axis=0);
  nn.conv2d(%0, %1, kernel_size=[3, 3], padding=[)",
                        padding, "])\n}");
  };
  EXPECT_EQ(Rewritten(model("0, 0")),
            "%0 = qnn.conv2d(%x, meta[relay.Constant][0], %s, %z, meta[relay.Constant][1], 0, "
            "kernel_size=[3, 3], out_dtype=\"int32\");\n"
            "%1 = reshape(%s, newshape=[]);\n"
            "%2 = multiply(%1, meta[relay.Constant][2]);\n"
            "%3 = cast(%0, dtype=\"float32\");\n"
            "multiply(%3, %2)\n");
  // The computed zero point, which pads the data, may be beyond the range of their dtype.
  const std::string padded = Rewritten(model("1, 1"));
  EXPECT_NE(padded.find("nn.conv2d(%0, %1"), std::string::npos) << padded;
}

TEST(IntegerProducts, WhatComparesWithAComputedScaleStaysFloat) {
  EXPECT_EQ(Rewritten(R"(
def @main(%x: Tensor[(2, 5), int8], %s: Tensor[(), float32]) {
  %0 = qnn.dequantize(%x, %s, 1);
  %1 = reshape(%0, newshape=[5, 2]);
  max(%1, axis=[1])
})"),
            "%0 = reshape(%x, newshape=[5, 2]);\n"
            "%1 = qnn.dequantize(%0, %s, 1, axis=0);\n"
            "max(%1, axis=[1])\n");
}

TEST(IntegerProducts, ABiasOfTheSameScaleIsAddedToTheSums) {
  EXPECT_EQ(Rewritten(R"(
def @main(%x: Tensor[(2, 5), int8], %constant_w: Tensor[(3, 5), int8], %constant_b: Tensor[(3,), int32]) {
  %0 = qnn.dequantize(%x, 0.5f, 1);
  %1 = qnn.dequantize(%constant_w, 0.25f, 0);
  %2 = nn.dense(%0, %1, units=3);
  %3 = qnn.dequantize(%constant_b, 0.125f, 0);
  add(%2, %3)
})"),
            "%0 = qnn.dense(%x, meta[relay.Constant][0], 0.5f, 1, 0.25f, 0, units=3, "
            "out_dtype=\"int32\");\n"
            "%1 = add(%0, meta[relay.Constant][1]);\n"
            "qnn.dequantize(%1, 0.125f, 0, axis=1)\n");
}

TEST(IntegerProducts, ABiasOfAnotherScaleStaysFloat) {
  const std::string text = Rewritten(R"(
def @main(%x: Tensor[(2, 5), int8], %constant_w: Tensor[(3, 5), int8], %constant_b: Tensor[(3,), int32]) {
  %0 = qnn.dequantize(%x, 0.5f, 1);
  %1 = qnn.dequantize(%constant_w, 0.25f, 0);
  %2 = nn.dense(%0, %1, units=3);
  %3 = qnn.dequantize(%constant_b, 0.25f, 0);
  add(%2, %3)
})");
  EXPECT_NE(text.find("add(%1, %2)"), std::string::npos) << text;
}

TEST(IntegerProducts, WhatMovesDataMovesQuantisedData) {
  EXPECT_EQ(Rewritten(R"(
def @main(%x: Tensor[(2, 5), int8]) {
  %0 = qnn.dequantize(%x, 0.5f, 1);
  %1 = reshape(%0, newshape=[5, 2]);
  %2 = transpose(%1, axes=[1, 0]);
  qnn.quantize(%2, 0.5f, 1)
})"),
            "%0 = reshape(%x, newshape=[5, 2]);\n"
            "transpose(%0, axes=[1, 0])\n");
}

TEST(IntegerProducts, RowsOfATableAreTakenQuantised) {
  EXPECT_EQ(Rewritten(R"(
def @main(%x: Tensor[(2,), int32], %constant_table: Tensor[(5, 3), int8]) {
  %0 = qnn.dequantize(%constant_table, 0.5f, 1);
  %1 = take(%0, %x, axis=0);
  nn.relu(%1)
})"),
            "%0 = take(meta[relay.Constant][0], %x, axis=0);\n"
            "%1 = qnn.dequantize(%0, 0.5f, 1, axis=0);\n"
            "nn.relu(%1)\n");
}

TEST(IntegerProducts, PartsAndTheSmallestStayQuantised) {
  EXPECT_EQ(Rewritten(R"(
def @main(%x: Tensor[(2, 6), int8]) {
  %0 = qnn.dequantize(%x, 0.5f, 1);
  %1 = split(%0, indices_or_sections=2, axis=1);
  %2 = stack((%1.0, %1.1), axis=0);
  %3 = min(%2, axis=[0]);
  qnn.quantize(%3, 0.5f, 1)
})"),
            "%0 = split(%x, indices_or_sections=2, axis=1);\n"
            "%1 = stack((%0.0, %0.1));\n"
            "min(%1, axis=[0])\n");
}

TEST(IntegerProducts, WhatIsJoinedWithOneScaleIsJoinedQuantised) {
  EXPECT_EQ(Rewritten(R"(
def @main(%x: Tensor[(2, 5), int8], %y: Tensor[(2, 3), int8]) {
  %0 = qnn.dequantize(%x, 0.5f, 1);
  %1 = qnn.dequantize(%y, 0.5f, 1);
  %2 = concatenate((%0, %1), axis=1);
  qnn.quantize(%2, 0.5f, 1)
})"),
            "concatenate((%x, %y), axis=1)\n");
}

TEST(IntegerProducts, WhatIsJoinedWithTwoScalesStaysFloat) {
  const std::string text = Rewritten(R"(
def @main(%x: Tensor[(2, 5), int8], %y: Tensor[(2, 3), int8]) {
  %0 = qnn.dequantize(%x, 0.5f, 1);
  %1 = qnn.dequantize(%y, 0.5f, 2);
  %2 = concatenate((%0, %1), axis=1);
  qnn.quantize(%2, 0.5f, 1)
})");
  EXPECT_NE(text.find("concatenate((%0, %1), axis=1)"), std::string::npos) << text;
}

TEST(IntegerProducts, AnotherScaleIsARequantization) {
  EXPECT_EQ(Rewritten(R"(
def @main(%x: Tensor[(2, 5), int8]) {
  %0 = qnn.dequantize(%x, 0.5f, 1);
  qnn.quantize(%0, 0.25f, 1, out_dtype="uint8")
})"),
            "qnn.requantize(%x, 0.5f, 1, 0.25f, 1, rounding=\"TONEAREST\", "
            "compute_dtype=\"float32\", out_dtype=\"uint8\")\n");
}

}  // namespace
}  // namespace kiln
