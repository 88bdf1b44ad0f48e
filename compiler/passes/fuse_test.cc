// SPDX-License-Identifier: Apache-2.0
// Tests which operators become one function. The text shows groups: "nn.conv2d nn.relu | reshape"
// are two functions, the first of two operators.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

std::string Operators(const Graph& graph, const char* separator) {
  std::string text;
  for (const Node& node : graph.nodes) {
    absl::StrAppend(&text, text.empty() ? "" : separator,
                    node.is_group() ? Operators(*node.body, " ") : std::string(node.op_name()));
  }
  return text;
}

// Transform compares the results; the text shows the groups.
std::string Groups(const std::string& model) {
  Transform(Fuse, model);
  const absl::StatusOr<Graph> fused = RunPass(Fuse, ParseModel(model));
  return fused.ok() ? Operators(*fused, " | ") : fused.status().ToString();
}

// A model over images.
std::string Conv(const std::string& rest) {
  return Groups(
      "def @main(%x: Tensor[(1, 4, 4, 2), float32], %w: Tensor[(3, 2, 1, 1), float32], "
      "%y: Tensor[(1, 4, 4, 3), float32]) {\n"
      "%0 = nn.conv2d(%x, %w, kernel_size=[1, 1], data_layout=\"NHWC\");\n" +
      rest + "}");
}

// A model over small matrices.
std::string Vector(const std::string& body) {
  return Groups("def @main(%x: Tensor[(2, 4), float32], %y: Tensor[(2, 4), float32]) {" + body +
                "}");
}

TEST(Fuse, ElementwiseChains) {
  EXPECT_EQ(Vector("nn.relu(add(exp(%x), %y))"), "exp add nn.relu");
  EXPECT_EQ(Vector("%0 = exp(%x); multiply(nn.relu(%0), %0)"), "exp nn.relu multiply");
}

TEST(Fuse, EpiloguesOfContractions) {
  EXPECT_EQ(Conv("nn.relu(add(%0, %y))"), "nn.conv2d add nn.relu");
  EXPECT_EQ(Conv("%1 = exp(%y); add(%0, %1)"), "nn.conv2d exp add");
}

TEST(Fuse, OneContractionInAGroup) {
  EXPECT_EQ(
      Conv(
          "%1 = nn.conv2d(nn.relu(%x), %w, kernel_size=[1, 1], data_layout=\"NHWC\"); add(%0, %1)"),
      "nn.conv2d | nn.relu | nn.conv2d add");
}

TEST(Fuse, OneEpilogueOfTwoThatMeet) {
  EXPECT_EQ(Conv("%1 = nn.conv2d(%x, %w, kernel_size=[1, 1], data_layout=\"NHWC\"); "
                 "add(nn.relu(%0), exp(%1))"),
            "nn.conv2d nn.relu | nn.conv2d exp add");
}

TEST(Fuse, NoEpilogueThatChangesTheShape) {
  EXPECT_EQ(Conv("transpose(%0, axes=[0, 3, 1, 2])"), "nn.conv2d | transpose");
  EXPECT_EQ(Conv("%1 = mean(%0, axis=[1, 2], keepdims=True); subtract(%0, %1)"),
            "nn.conv2d | mean | subtract");
}

TEST(Fuse, WhatOthersReadStaysOutside) {
  EXPECT_EQ(Conv("%1 = nn.relu(%0); (%1, exp(%1))"), "nn.conv2d nn.relu | exp");
  EXPECT_EQ(Vector("%0 = exp(%x); (nn.relu(%0), sum(%0, axis=[1]))"), "exp | nn.relu | sum");
  EXPECT_EQ(Vector("%0 = exp(%x); (%0, nn.relu(%0))"), "exp | nn.relu");
}

TEST(Fuse, ProloguesOfReductions) {
  EXPECT_EQ(Vector("sum(multiply(%x, %y), axis=[1])"), "multiply sum");
  EXPECT_EQ(Vector("exp(sum(transpose(%x, axes=[1, 0]), axis=[1]))"), "transpose sum exp");
}

TEST(Fuse, AnEpilogueStaysWithItsProducer) {
  EXPECT_EQ(Conv("sum(nn.relu(%0), axis=[3])"), "nn.conv2d nn.relu | sum");
  EXPECT_EQ(Vector("%0 = nn.softmax(%x); sum(exp(%0), axis=[1])"), "nn.softmax exp | sum");
  EXPECT_EQ(Conv("transpose(nn.relu(%0), axes=[0, 3, 1, 2])"), "nn.conv2d nn.relu | transpose");
  EXPECT_EQ(Vector("multiply(sigmoid(sum(%x, axis=[1], keepdims=True)), %y)"),
            "sum sigmoid | multiply");
}

TEST(Fuse, ContractionsReadMovedDataInPlace) {
  constexpr char kMain[] =
      "def @main(%x: Tensor[(1, 2, 4, 4), float32], %w: Tensor[(3, 2, 1, 1), float32]) {";
  EXPECT_EQ(
      Groups(std::string(kMain) + "%0 = transpose(%x, axes=[0, 2, 3, 1]);"
                                  "nn.conv2d(%0, %w, kernel_size=[1, 1], data_layout=\"NHWC\") }"),
      "transpose nn.conv2d");
  EXPECT_EQ(
      Groups(std::string(kMain) + "%0 = nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);"
                                  "nn.conv2d(%0, %w, kernel_size=[1, 1]) }"),
      "nn.pad nn.conv2d");
  // Only moves of the data are read in place. A computation would be repeated for every use.
  EXPECT_EQ(Groups(std::string(kMain) + "nn.conv2d(exp(%x), %w, kernel_size=[1, 1]) }"),
            "exp | nn.conv2d");
}

TEST(Fuse, ContractionsReadTheirOtherFactorTransposed) {
  constexpr char kMain[] = "def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(4, 3), float32]) {";
  EXPECT_EQ(Groups(std::string(kMain) + "nn.dense(%x, transpose(%w, axes=[1, 0])) }"),
            "transpose nn.dense");
  EXPECT_EQ(Groups("def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(3, 3), float32]) {"
                   "nn.dense(%x, nn.pad(%w, 0f, pad_width=[[0, 0], [1, 0]])) }"),
            "nn.pad | nn.dense");
}

TEST(Fuse, ContractionsStoreRowsElsewhere) {
  EXPECT_EQ(Conv("transpose(%0, axes=[0, 2, 1, 3])"), "nn.conv2d transpose");
  EXPECT_EQ(Conv("transpose(nn.relu(%0), axes=[0, 2, 1, 3])"), "nn.conv2d nn.relu transpose");
  EXPECT_EQ(Vector("transpose(nn.softmax(reshape(%x, newshape=[2, 2, 2])), axes=[1, 0, 2])"),
            "reshape | nn.softmax | transpose");
}

// softmax(%q %k + %m) %v, with parts that the arguments change.
std::string Attention(const std::string& softmax = "nn.softmax(%1)",
                      const std::string& product = "nn.batch_matmul(%2, %v, transpose_b=False)",
                      const std::string& last = "%3") {
  return Groups(
      "def @main(%q: Tensor[(2, 5, 4), float32], %k: Tensor[(2, 4, 5), float32], "
      "%v: Tensor[(2, 5, 5), float32], %m: Tensor[(5), float32]) {"
      "%0 = nn.batch_matmul(%q, %k, transpose_b=False); %1 = add(%0, %m); %2 = " +
      softmax + "; %3 = " + product + "; " + last + " }");
}

TEST(Fuse, AttentionIsOneGroup) {
  EXPECT_EQ(Attention(), "nn.batch_matmul add nn.softmax nn.batch_matmul");
  EXPECT_EQ(Attention("nn.softmax(%1)", "nn.batch_matmul(%2, %v, transpose_b=False)",
                      "transpose(nn.relu(%3), axes=[1, 0, 2])"),
            "nn.batch_matmul add nn.softmax nn.batch_matmul nn.relu transpose");
  EXPECT_EQ(Attention("nn.softmax(nn.relu(%1))"),
            "nn.batch_matmul add nn.relu nn.softmax nn.batch_matmul");
}

TEST(Fuse, AttentionWhoseRowsAreNotThoseOfTheSoftmax) {
  EXPECT_EQ(Attention("nn.softmax(%1, axis=1)"),
            "nn.batch_matmul add | nn.softmax | nn.batch_matmul");
  EXPECT_EQ(Attention("nn.softmax(%1)", "nn.batch_matmul(%2, %v, transpose_a=True)"),
            "nn.batch_matmul add | nn.softmax | nn.batch_matmul");
  // The shares or the scores have another reader.
  EXPECT_EQ(
      Attention("nn.softmax(%1)", "nn.batch_matmul(%2, %v, transpose_b=False)", "add(%3, %2)"),
      "nn.batch_matmul add | nn.softmax | nn.batch_matmul add");
  EXPECT_EQ(
      Attention("nn.softmax(%1)", "nn.batch_matmul(%2, %v, transpose_b=False)", "add(%3, %0)"),
      "nn.batch_matmul | add nn.softmax | nn.batch_matmul add");
}

TEST(Fuse, ViewsAndTuplesStandAlone) {
  EXPECT_EQ(Vector("nn.relu(reshape(exp(%x), newshape=[8]))"), "exp | reshape | nn.relu");
  EXPECT_EQ(Vector("exp(concatenate((nn.relu(%x), %y), axis=0))"), "nn.relu | concatenate | exp");
  EXPECT_EQ(Vector("%0 = split(exp(%x), indices_or_sections=2); nn.relu(%0.1)"),
            "exp | split | nn.relu");
}

TEST(Fuse, GroupsHaveABound) {
  std::string body = "%0 = add(%x, %y);\n";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&body, "%", i + 1, " = add(%", i, ", %y);\n");
  const std::string text = Vector(body + "%40");
  EXPECT_NE(text.find(" | "), std::string::npos);
  // 41 nodes in two groups, which " | " separates once.
  EXPECT_EQ(text.find(" | "), text.rfind(" | "));
  EXPECT_EQ(text.size() - text.rfind(" | ") - 3, 32 * 4 - 1u);
}

TEST(Fuse, ChainsOfAnyLength) {
  constexpr int kNodes = 20000;
  std::string body = "%0 = exp(%x);\n";
  for (int i = 1; i < kNodes; ++i) absl::StrAppend(&body, "%", i, " = nn.relu(%", i - 1, ");\n");
  const std::string text = Vector(absl::StrCat(body, "%", kNodes - 1));
  EXPECT_EQ(std::count(text.begin(), text.end(), '|'), kNodes / 32 - 1);
}

TEST(Fuse, ConstantsGoInside) {
  EXPECT_EQ(Transform(Fuse, R"(
def @main(%x: Tensor[(2,), float32], %constant: Tensor[(2,), float32]) {
  nn.relu(add(%x, %constant))
})"),
            R"(%0 = fn (%p0: Tensor[(2,), float32], Primitive=1) {
  %0 = add(%p0, meta[relay.Constant][0]);
  nn.relu(%0)
};
%0(%x)
)");
}

TEST(Fuse, NamesTheNodesOfTheModelOnce) {
  Graph graph = ParseModel("def @main(%x: Tensor[(2,), float32]) { exp(nn.relu(add(%x, 1f))) }");
  graph.nodes[0].source.node = "conv1";
  graph.nodes[1].source.node = "relu1";
  graph.nodes[2].source.node = "conv1";
  const absl::StatusOr<Graph> fused = RunPass(Fuse, graph);
  ASSERT_TRUE(fused.ok());
  EXPECT_EQ(fused->nodes[0].source.node, "conv1 relu1");
}

TEST(Fuse, KeepsGroupsOfTheModel) {
  EXPECT_EQ(Vector("%0 = fn (%p: Tensor[(2, 4), float32], Primitive=1) { exp(%p) };\n"
                   "%1 = %0(%x); nn.relu(%1)"),
            "exp | nn.relu");
}

}  // namespace
}  // namespace kiln
