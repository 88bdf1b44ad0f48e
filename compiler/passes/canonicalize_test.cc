// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "absl/strings/match.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(Canonicalize, DropsWhatChangesNothing) {
  EXPECT_EQ(Transform(Canonicalize, R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = copy(%x);
  %1 = cast(%0, dtype="float32");
  %2 = nn.dropout(%1, rate=0.5f);
  %3 = reshape(%2.0, newshape=[2, 3]);
  nn.relu(%3)
})"),
            "nn.relu(%x)\n");
}

TEST(Canonicalize, KeepsCastsToAnotherType) {
  EXPECT_EQ(Transform(Canonicalize, R"(
def @main(%x: Tensor[(2, 3), float32]) {
  cast(%x, dtype="int8")
})"),
            "cast(%x, dtype=\"int8\")\n");
}

TEST(Canonicalize, MaskOfDropoutIsOnes) {
  EXPECT_EQ(Transform(Canonicalize, R"(
def @main(%x: Tensor[(), float32]) {
  %0 = nn.dropout(%x);
  (%0.0, %0.1)
})"),
            "(%x, 1f)\n");
}

TEST(Canonicalize, DropsWhatGivesItsInput) {
  for (const char* op : {"copy(%x)", "device_copy(%x)", "annotation.cast_hint(%x, dtype=\"int8\")",
                         "cast(%x, dtype=\"float32\")", "cast_like(%x, 1f)"}) {
    EXPECT_EQ(Transform(Canonicalize,
                        std::string("def @main(%x: Tensor[(2, 3), float32]) { ") + op + " }"),
              "%x\n");
  }
  EXPECT_EQ(Transform(Canonicalize, "def @main(%x: Tensor[(2, 3), float32]) { cast_like(%x, 1) }"),
            "cast(%x, dtype=\"int32\")\n");
  EXPECT_EQ(Transform(Canonicalize,
                      "def @main(%x: Tensor[(2,), float32]) { annotation.stop_fusion(%x) }"),
            "annotation.stop_fusion(%x)\n");
}

TEST(Canonicalize, PaddingOfAConvolutionIsItsOwn) {
  const auto canonical = [](const std::string& pad, const std::string& attrs = "") {
    return Transform(Canonicalize, R"(
def @main(%x: Tensor[(1, 2, 5, 5), float32], %w: Tensor[(3, 2, 3, 3), float32]) {
  %0 = nn.pad(%x, )" + pad + R"();
  nn.conv2d(%0, %w)" + attrs + R"()
})");
  };
  EXPECT_EQ(canonical("0f, pad_width=[[0, 0], [0, 0], [1, 2], [0, 1]]"),
            "nn.conv2d(%x, %w, padding=[1, 0, 2, 1])\n");
  EXPECT_EQ(canonical("0f, pad_width=[[0, 0], [0, 0], [1, 2], [0, 1]]", ", padding=[1, 1]"),
            "nn.conv2d(%x, %w, padding=[2, 1, 3, 2])\n");
  // Other values, copies of data, and channels that are added.
  for (const char* other : {"1f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]",
                            "0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]], pad_mode=\"edge\"",
                            "0f, pad_width=[[0, 1], [0, 0], [1, 1], [1, 1]]"}) {
    EXPECT_TRUE(absl::StrContains(canonical(other), "nn.pad")) << other;
  }
}

TEST(Canonicalize, PaddingOfAQuantizedConvolutionIsItsZeroPoint) {
  const auto canonical = [](const std::string& value) {
    return Transform(Canonicalize, R"(
def @main(%x: Tensor[(1, 5, 5, 2), int8], %w: Tensor[(1, 3, 3, 2), int8]) {
  %0 = nn.pad(%x, )" + value + R"(, pad_width=[[0, 0], [1, 1], [1, 1], [0, 0]]);
  qnn.conv2d(%0, %w, 0.5f, -3, 0.25f, 0, groups=2, data_layout="NHWC", kernel_layout="IHWO")
})");
  };
  EXPECT_FALSE(absl::StrContains(canonical("-3i8"), "nn.pad")) << canonical("-3i8");
  EXPECT_TRUE(absl::StrContains(canonical("-3i8"), "padding=[1, 1, 1, 1]")) << canonical("-3i8");
  EXPECT_TRUE(absl::StrContains(canonical("0i8"), "nn.pad"));
}

// As exporters of PyTorch write it, as Kiln's front ends do, and as TVM's importers do.
TEST(Canonicalize, GeluIsOneOperator) {
  const auto canonical = [](const std::string& body, const std::string& type = "float32") {
    return Transform(Canonicalize, "def @main(%x: Tensor[(2, 3), " + type +
                                       "], %y: Tensor[(2, 3), " + type + "]) { " + body + " }");
  };
  const std::string gelu = "nn.gelu(%x)\n";
  EXPECT_EQ(canonical("%0 = add(erf(divide(%x, 1.4142135f)), 1f); "
                      "multiply(multiply(%x, %0), 0.5f)"),
            gelu);
  EXPECT_EQ(canonical("%0 = add(1f, erf(multiply(%x, 0.70710678f))); "
                      "multiply(multiply(%x, 0.5f), %0)"),
            gelu);
  EXPECT_EQ(canonical("%0 = multiply(erf(multiply(0.70710678f, %x)), 0.5f); "
                      "multiply(%x, add(0.5f, %0))"),
            gelu);
  EXPECT_EQ(canonical("%0 = add(1f64, erf(divide(%x, 1.4142135623730951f64))); "
                      "multiply(multiply(0.5f64, %0), %x)",
                      "float64"),
            gelu);
  for (const char* other : {
           "multiply(multiply(%y, add(erf(divide(%x, 1.4142135f)), 1f)), 0.5f)",
           "multiply(multiply(%x, add(erf(divide(%x, 1.41f)), 1f)), 0.5f)",
           "multiply(multiply(%x, add(erf(divide(%x, 1.4142135f)), 2f)), 0.5f)",
           "multiply(multiply(%x, add(erf(divide(%x, 1.4142135f)), 1f)), 0.25f)",
           "multiply(multiply(%x, add(tanh(divide(%x, 1.4142135f)), 1f)), 0.5f)",
           "multiply(%x, add(erf(divide(1.4142135f, %x)), 1f))",
       }) {
    EXPECT_FALSE(absl::StrContains(canonical(other), "gelu")) << other;
  }
}

// Parts of the GELU that are read elsewhere are computed as well.
TEST(Canonicalize, GeluBehindAReshape) {
  EXPECT_EQ(Transform(Canonicalize, R"(
def @main(%x: Tensor[(6, 4), float32], %w: Tensor[(8, 4), float32]) {
  %0 = reshape(nn.dense(%x, %w), newshape=[2, 3, 8]);
  %1 = erf(divide(%0, 1.4142135f));
  %2 = multiply(multiply(%0, add(%1, 1f)), 0.5f);
  (%2, %1)
})"),
            "%0 = nn.dense(%x, %w);\n"
            "%1 = divide(%0, 1.4142135f);\n"
            "%2 = reshape(%1, newshape=[2, 3, 8], allowzero=True);\n"
            "%3 = erf(%2);\n"
            "%4 = nn.gelu(%0);\n"
            "%5 = reshape(%4, newshape=[2, 3, 8], allowzero=True);\n"
            "(%5, %3)\n");
}

// Operands that are computed in different shapes: a reshape stays in place, or the next round
// would move it to the other operand. The reshape of a convolution or product is moved first, as
// other operators join these.
TEST(Canonicalize, OfTwoComputedOperandsOneIsReshaped) {
  const std::string begin =
      "def @main(%x: Tensor[(6,), float32], %y: Tensor[(1, 6), float32], %w: Tensor[(6, 6), "
      "float32]) { ";
  EXPECT_EQ(Transform(Canonicalize,
                      begin + "%0 = reshape(sin(%x), newshape=[1, 6]); exp(add(%0, cos(%y))) }"),
            "%0 = sin(%x);\n"
            "%1 = reshape(%0, newshape=[1, 6], allowzero=True);\n"
            "%2 = cos(%y);\n"
            "%3 = add(%1, %2);\n"
            "exp(%3)\n");
  EXPECT_EQ(Transform(Canonicalize, begin + "%0 = reshape(nn.dense(%y, %w), newshape=[6]); "
                                            "exp(add(sin(%x), %0)) }"),
            "%0 = nn.dense(%y, %w);\n"
            "%1 = sin(%x);\n"
            "%2 = reshape(%1, newshape=[1, 6], allowzero=True);\n"
            "%3 = add(%2, %0);\n"
            "%4 = reshape(%3, newshape=[6], allowzero=True);\n"
            "exp(%4)\n");
}

// The reshape of %0 has two readers until the second one reads %0 itself.
TEST(Canonicalize, GoesOnUntilNothingChanges) {
  EXPECT_EQ(Transform(Canonicalize,
                      "def @main(%x: Tensor[(6, 4), float32], %w: Tensor[(8, 4), float32]) { "
                      "%0 = reshape(nn.dense(%x, %w), newshape=[2, 3, 8]); "
                      "%1 = negative(sin(%0)); (%1, reshape(%0, newshape=[48])) }"),
            "%0 = nn.dense(%x, %w);\n"
            "%1 = sin(%0);\n"
            "%2 = reshape(%1, newshape=[2, 3, 8], allowzero=True);\n"
            "%3 = negative(%2);\n"
            "%4 = reshape(%0, newshape=[48], allowzero=True);\n"
            "(%3, %4)\n");
}

// The original forms lose digits of their results.
TEST(Canonicalize, ExactFormsAreOneOperator) {
  const auto canonical = [](const std::string& body, const std::string& type = "float32") {
    return Transform(Canonicalize, "def @main(%x: Tensor[(2, 3), " + type +
                                       "], %y: Tensor[(2, 3), " + type + "]) { " + body + " }");
  };
  for (const char* body : {"subtract(exp(%x), 1f)", "add(exp(%x), -1f)", "add(-1f, exp(%x))"}) {
    EXPECT_EQ(canonical(body), "expm1(%x)\n") << body;
  }
  EXPECT_EQ(canonical("subtract(exp(%x), 1f64)", "float64"), "expm1(%x)\n");
  for (const char* body : {"add(nn.relu(%x), log(add(exp(negative(abs(%x))), 1f)))",
                           "add(log(add(1f, exp(negative(abs(%x))))), nn.relu(%x))"}) {
    EXPECT_EQ(canonical(body), "nn.softplus(%x)\n") << body;
  }
  for (const char* other : {
           "subtract(exp(%x), 2f)",
           "subtract(1f, exp(%x))",
           "subtract(exp(%x), %y)",
           "add(nn.relu(%y), log(add(exp(negative(abs(%x))), 1f)))",
           "add(nn.relu(%x), log(add(exp(negative(abs(%x))), 2f)))",
           "add(nn.relu(%x), log(add(exp(abs(%x)), 1f)))",
       }) {
    const std::string text = canonical(other);
    EXPECT_FALSE(absl::StrContains(text, "expm1") || absl::StrContains(text, "softplus")) << other;
  }
  EXPECT_FALSE(absl::StrContains(canonical("subtract(exp(%x), 1f16)", "float16"), "expm1"));
}

TEST(Canonicalize, ReshapesBehindElementwiseOperators) {
  const std::string begin =
      "def @main(%x: Tensor[(6, 4), float32], %w: Tensor[(8, 4), float32], "
      "%y: Tensor[(2, 3, 8), float32], %z: Tensor[(1, 1, 8), float32], %n: Tensor[(1, 3, 1), "
      "float32]) { %0 = reshape(nn.dense(%x, %w), newshape=[2, 3, 8]); ";
  EXPECT_EQ(Transform(Canonicalize, begin + "nn.relu(add(nn.relu(%0), %y)) }"),
            "%0 = nn.dense(%x, %w);\n"
            "%1 = nn.relu(%0);\n"
            "%2 = reshape(%y, newshape=[6, 8], allowzero=True);\n"
            "%3 = add(%1, %2);\n"
            "%4 = reshape(%3, newshape=[2, 3, 8], allowzero=True);\n"
            "nn.relu(%4)\n");
  // An operand that broadcasts, and a number.
  EXPECT_EQ(Transform(Canonicalize, begin + "copy(transpose(multiply(add(%0, %z), 2f))) }"),
            "%0 = nn.dense(%x, %w);\n"
            "%1 = reshape(%z, newshape=[8], allowzero=True);\n"
            "%2 = add(%0, %1);\n"
            "%3 = multiply(%2, 2f);\n"
            "%4 = reshape(%3, newshape=[2, 3, 8], allowzero=True);\n"
            "transpose(%4)\n");
  // Rows, for any spelling of the axis.
  EXPECT_EQ(Transform(Canonicalize, begin + "transpose(nn.softmax(%0, axis=2)) }"),
            "%0 = nn.dense(%x, %w);\n"
            "%1 = nn.softmax(%0);\n"
            "%2 = reshape(%1, newshape=[2, 3, 8], allowzero=True);\n"
            "transpose(%2)\n");
}

TEST(Canonicalize, MultipliesMatricesInTheBatchAxesOfTheModel) {
  const std::string begin =
      "def @main(%x: Tensor[(2, 3, 5, 4), float32], %y: Tensor[(6, 4, 7), float32]) { "
      "%0 = reshape(%x, newshape=[6, 5, 4]); %1 = nn.batch_matmul(%0, %y, transpose_b=False); ";
  EXPECT_EQ(Transform(Canonicalize, begin + "nn.relu(reshape(%1, newshape=[2, 3, 5, 7])) }"),
            "%0 = reshape(%y, newshape=[2, 3, 4, 7], allowzero=True);\n"
            "%1 = nn.batch_matmul(%x, %0);\n"
            "nn.relu(%1)\n");
  // Another batch, other matrices, a product with another reader.
  for (const char* kept : {"reshape(%1, newshape=[3, 2, 5, 7])", "reshape(%1, newshape=[2, 3, 35])",
                           "(reshape(%1, newshape=[2, 3, 5, 7]), %1)"}) {
    EXPECT_TRUE(absl::StartsWith(Transform(Canonicalize, begin + kept + " }"),
                                 "%0 = reshape(%x, newshape=[6, 5, 4]"));
  }
}

TEST(Canonicalize, KeepsReshapesThatMustStandInFront) {
  const std::string begin =
      "def @main(%x: Tensor[(6, 4), float32], %w: Tensor[(8, 4), float32], "
      "%n: Tensor[(3, 1), float32]) { %0 = reshape(nn.dense(%x, %w), newshape=[2, 3, 8]); ";
  for (const char* kept : {"transpose(add(%0, %n))",  // broadcasts along an axis that is not there
                           "transpose(nn.softmax(%0, axis=1))",  // no rows
                           "nn.relu(%0)",  // the model's output is stored as it is
                           "(transpose(nn.relu(%0)), exp(%0))"}) {  // two read it
    const std::string text = Transform(Canonicalize, begin + kept + " }");
    EXPECT_TRUE(absl::StartsWith(text, "%0 = nn.dense(%x, %w);\n%1 = reshape(%0,")) << text;
  }
  // Nothing computes the data, so there is nothing to join.
  const std::string text = Transform(Canonicalize,
                                     "def @main(%x: Tensor[(6, 4), float32]) { "
                                     "transpose(nn.relu(reshape(%x, newshape=[8, 3]))) }");
  EXPECT_TRUE(absl::StartsWith(text, "%0 = reshape(%x,")) << text;
}

// No zeros between the places of data are multiplied: the 2 x 2 convolutions
// with 2 x 2 taps become one.
TEST(Canonicalize, WritesTransposedConvolutionsAsConvolutionsOfTheData) {
  const std::string begin = "def @main(%x: Tensor[(1, 3, 5, 6), float32], %constant: Tensor[";
  EXPECT_EQ(Transform(Canonicalize, begin + R"((3, 4, 4, 4), float32]) {
  nn.conv2d_transpose(%x, %constant, strides=[2, 2], padding=[1, 1, 1, 1])
})"),
            "%0 = nn.conv2d(%x, meta[relay.Constant][0], padding=[1, 1, 1, 1]);\n"
            "%1 = nn.depth_to_space(%0, block_size=2);\n"
            "%2 = strided_slice(%1, begin=[1], end=[11], axes=[2]);\n"
            "strided_slice(%2, begin=[1], end=[13], axes=[3])\n");
  // Different strides, taps that are no multiple of them, and no places to leave out.
  EXPECT_EQ(Transform(Canonicalize, begin + R"((3, 4, 3, 3), float32]) {
  nn.conv2d_transpose(%x, %constant, strides=[3, 2], output_padding=[0, 1])
})"),
            "%0 = nn.conv2d(%x, meta[relay.Constant][0], padding=[0, 1, 0, 1]);\n"
            "%1 = reshape(%0, newshape=[1, 3, 2, 4, 5, 7], allowzero=True);\n"
            "%2 = transpose(%1, axes=[0, 3, 4, 1, 5, 2]);\n"
            "reshape(%2, newshape=[1, 4, 15, 14], allowzero=True)\n");
  for (const char* kept : {"strides=[1, 1]", "strides=[2, 2], dilation=[2, 2]",
                           "strides=[2, 2], groups=3", "strides=[7, 6]", "strides=[100, 100]"}) {
    EXPECT_TRUE(absl::StrContains(
        Transform(Canonicalize, begin +
                                    "(3, 4, 3, 3), float32]) { nn.conv2d_transpose(%x, "
                                    "%constant, " +
                                    kept + ") }"),
        "nn.conv2d_transpose"));
  }
}

TEST(Canonicalize, WritesChangesOfShapeAsReshape) {
  for (const char* op : {"squeeze(%x)", "nn.batch_flatten(%x)", "reshape(%x, newshape=[0, -1])",
                         "reshape_like(%x, %y)", "transpose(%x, axes=[1, 0, 3, 2])",
                         "transpose(%x, axes=[0, 3, 2, 1])"}) {
    const std::string text = Transform(
        Canonicalize, std::string("def @main(%x: Tensor[(2, 1, 1, 3), float32], %y: Tensor[(6,), "
                                  "float32]) { ") +
                          op + " }");
    EXPECT_EQ(text.substr(0, 12), "reshape(%x, ") << op << ": " << text;
  }
  EXPECT_EQ(Transform(Canonicalize, R"(
def @main(%x: Tensor[(2, 3), float32]) {
  expand_dims(%x, axis=0)
})"),
            "reshape(%x, newshape=[1, 2, 3], allowzero=True)\n");
}

TEST(Canonicalize, KeepsTransposesThatMoveElements) {
  EXPECT_EQ(Transform(Canonicalize, R"(
def @main(%x: Tensor[(2, 1, 3), float32]) {
  transpose(%x, axes=[2, 1, 0])
})"),
            "transpose(%x, axes=[2, 1, 0])\n");
}

TEST(Canonicalize, MergesTransposes) {
  const auto body = [](const std::string& rest) {
    return Transform(Canonicalize, "def @main(%x: Tensor[(2, 4, 3), float32]) { " + rest + " }");
  };
  EXPECT_EQ(body("transpose(transpose(%x, axes=[1, 0, -1]), axes=[2, 0, 1])"),
            "transpose(%x, axes=[2, 1, 0])\n");
  EXPECT_EQ(body("transpose(transpose(%x))"), "%x\n");
  EXPECT_EQ(body("%0 = transpose(%x, axes=[0, 2, 1]); (transpose(%0, axes=[0, 2, 1]), %0)"),
            "%0 = transpose(%x, axes=[0, 2, 1]);\n(%x, %0)\n");
}

TEST(Canonicalize, MergesReshapes) {
  EXPECT_EQ(Transform(Canonicalize, R"(
def @main(%x: Tensor[(2, 3, 4), float32]) {
  %0 = reshape(%x, newshape=[6, 4]);
  %1 = expand_dims(%0, axis=1);
  reshape(%1, newshape=[24])
})"),
            "reshape(%x, newshape=[24], allowzero=True)\n");
  // Back to the original shape.
  EXPECT_EQ(Transform(Canonicalize, R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = reshape(%x, newshape=[6]);
  nn.relu(reshape(%0, newshape=[2, 3]))
})"),
            "nn.relu(%x)\n");
}

TEST(Canonicalize, KeepsAReshapeThatIsReadTwice) {
  EXPECT_EQ(Transform(Canonicalize, R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = reshape(%x, newshape=[6]);
  (nn.relu(%0), reshape(%0, newshape=[3, 2]))
})"),
            "%0 = reshape(%x, newshape=[6], allowzero=True);\n"
            "%1 = nn.relu(%0);\n"
            "%2 = reshape(%x, newshape=[3, 2], allowzero=True);\n"
            "(%1, %2)\n");
}

constexpr char kBatchNorm[] = R"(
def @main(%x: Tensor[(1, 3, 2, 2), float32], %constant_gamma: Tensor[(3,), float32],
          %constant_beta: Tensor[(3,), float32], %constant_mean: Tensor[(3,), float32],
          %constant_variance: Tensor[(3,), float32]) {
  %0 = nn.batch_norm(%x, %constant_gamma, %constant_beta, %constant_mean, %constant_variance)";

TEST(Canonicalize, BatchNormIsScaleAndShift) {
  const std::string text = Transform(Canonicalize, std::string(kBatchNorm) + "); %0.0 }");
  EXPECT_EQ(text.find("batch_norm"), std::string::npos);
  const std::string tail =
      "%5 = reshape(%2, newshape=[1, 3, 1, 1], allowzero=True);\n"
      "%6 = reshape(%4, newshape=[1, 3, 1, 1], allowzero=True);\n"
      "%7 = multiply(%x, %5);\n"
      "add(%7, %6)\n";
  ASSERT_GT(text.size(), tail.size());
  EXPECT_EQ(text.substr(text.size() - tail.size()), tail);
}

// Transform compares the results, so these tests check values.
TEST(Canonicalize, BatchNormHeedsItsAttributes) {
  for (const char* attrs :
       {", epsilon=0.25f", ", center=False", ", scale=False", ", scale=False, center=False"}) {
    SCOPED_TRACE(attrs);
    const std::string text = Transform(Canonicalize, std::string(kBatchNorm) + attrs + "); %0.0 }");
    EXPECT_EQ(text.find("batch_norm"), std::string::npos) << text;
  }
  EXPECT_EQ(Transform(Canonicalize, R"(
def @main(%x: Tensor[(2, 2, 3), float32], %constant: Tensor[(3,), float32]) {
  %0 = nn.batch_norm(%x, %constant, %constant, %constant, %constant, axis=-1);
  %0.0
})")
                .find("batch_norm"),
            std::string::npos);
}

TEST(Canonicalize, BatchNormGivesItsStatisticsBack) {
  const std::string text = Transform(Canonicalize, std::string(kBatchNorm) + "); (%0.1, %0.2) }");
  EXPECT_EQ(text, "(meta[relay.Constant][0], meta[relay.Constant][1])\n");
}

TEST(Canonicalize, KeepsBatchNormOverComputedStatistics) {
  const std::string text = Transform(Canonicalize, R"(
def @main(%x: Tensor[(1, 3, 2, 2), float32], %mean: Tensor[(3,), float32], %constant: Tensor[(3,), float32]) {
  %0 = nn.batch_norm(%x, %constant, %constant, %mean, %constant);
  %0.0
})");
  EXPECT_EQ(text.substr(0, 17), "%0 = nn.batch_nor");
}

}  // namespace
}  // namespace kiln
