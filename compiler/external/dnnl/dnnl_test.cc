// SPDX-License-Identifier: Apache-2.0
// The programs that dnnl writes. runtime_cpp/dnnl tests how a runtime reads them.
#include <google/protobuf/text_format.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/external/generate.h"
#include "compiler/external/partition.h"
#include "compiler/graph/external_node.h"
#include "compiler/passes/testing/run_pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/dnnl/format/program.pb.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

Graph Partitioned(absl::string_view model) {
  return Partition(ParseModel(model), "m", {FindExternalCodegen("dnnl")}).value();
}

std::vector<ExternalModule> Modules(absl::string_view model) {
  return GenerateExternalModules(Partitioned(model), {}, {.module_name = "m"}).value();
}

// The layers of the module's only function, in protobuf's text form on one line.
std::string Layers(const ExternalModule& module) {
  dnnl::proto::Program program;
  EXPECT_TRUE(program.ParseFromString(module.payload.substr(8)));
  EXPECT_EQ(program.functions_size(), 1);
  program.mutable_functions(0)->clear_name();
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.SetUseShortRepeatedPrimitives(true);
  std::string text;
  printer.PrintToString(program.functions(0), &text);
  return text;
}

TEST(Dnnl, AConvolutionWithAllThatIsBehindIt) {
  const std::vector<ExternalModule> modules = Modules(R"(
  def @main(%x: Tensor[(1, 4, 5, 6), float32], %r: Tensor[(1, 8, 3, 3), float32],
            %constant_w: Tensor[(8, 2, 3, 3), float32], %constant_b: Tensor[(8,), float32]) {
    %0 = nn.conv2d(%x, %constant_w, strides=[2, 2], padding=[1, 1, 1, 1], groups=2, kernel_size=[3, 3]);
    nn.relu(add(%r, nn.bias_add(%0, %constant_b)))
  })");
  ASSERT_EQ(modules.size(), 1u);
  const ExternalModule& module = modules[0];
  EXPECT_EQ(module.name(), "tvmgen_m_dnnl_main_0");
  EXPECT_EQ(module.type_key, "dnnl");
  EXPECT_FALSE(module.is_linkable());
  EXPECT_FALSE(module.crt_exportable());
  EXPECT_EQ(Layers(module),
            "layers { convolution { strides: [2, 2] padding: [1, 1, 1, 1] dilation: [1, 1] groups: "
            "2 data_layout: \"NCHW\" kernel_layout: \"OIHW\" } data { input: 0 } weight { "
            "constant: 0 } bias { constant: 1 } residual { input: 1 } relu: true } outputs: [0] ");
  ASSERT_EQ(module.functions.size(), 1u);
  const std::vector<ExternalConstant>& constants = module.functions[0].constants;
  ASSERT_EQ(constants.size(), 2u);
  EXPECT_EQ(constants[0].name, "tvmgen_m_dnnl_main_0_const_0");
  EXPECT_EQ(constants[0].tensor.type().shape, (Shape{8, 2, 3, 3}));
  EXPECT_EQ(constants[1].name, "tvmgen_m_dnnl_main_0_const_1");
}

TEST(Dnnl, LayersInARowAreOneModule) {
  const std::vector<ExternalModule> modules = Modules(R"(
  def @main(%x: Tensor[(2, 4), float32], %constant: Tensor[(4, 4), float32], %constant_b: Tensor[(4,), float32]) {
    %0 = nn.relu(add(nn.dense(%x, %constant), %constant_b));
    add(nn.dense(%0, %constant), %0)
  })");
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(Layers(modules[0]),
            "layers { dense { } data { input: 0 } weight { constant: 0 } bias { constant: 1 } "
            "relu: true } layers { dense { } data { layer: 0 } weight { constant: 2 } residual { "
            "layer: 0 } } outputs: [1] ");
}

TEST(Dnnl, SubgraphsApartAreModules) {
  const std::vector<ExternalModule> modules = Modules(R"(
  def @main(%x: Tensor[(2, 4), float32], %constant: Tensor[(4, 4), float32]) {
    nn.dense(nn.softmax(nn.dense(%x, %constant)), %constant)
  })");
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[1].name(), "tvmgen_m_dnnl_main_1");
}

// The operators of the only match, separated by spaces, or "" if there is none. `body` is a
// convolution or dense layer with further operators.
std::string Taken(absl::string_view body) {
  const Graph graph = Partitioned(absl::StrCat(R"(
  def @main(%x: Tensor[(1, 4, 5, 5), float32], %h: Tensor[(1, 4, 5, 5), float16], %v: Tensor[(2, 4), float32],
            %w: Tensor[(4, 4, 1, 1), float32],
            %constant_w: Tensor[(4, 4, 1, 1), float32], %constant_h: Tensor[(4, 4, 1, 1), float16],
            %constant_c: Tensor[(4,), float32],
            %constant_c11: Tensor[(4, 1, 1), float32], %constant_w1: Tensor[(1, 1, 1, 5), float32],
            %constant_full: Tensor[(1, 4, 5, 5), float32], %constant_d: Tensor[(4, 4), float32]) {
    )",
                                               body, "\n}"));
  for (const Node& node : graph.nodes) {
    if (ExternalCompiler(node).empty()) continue;
    EXPECT_EQ(node.body->nodes.size(), 1u);
    std::string ops;
    for (const Node& inner : node.body->nodes[0].body->nodes) {
      absl::StrAppend(&ops, ops.empty() ? "" : " ", inner.op_name());
    }
    return ops;
  }
  return "";
}

TEST(Dnnl, WhatItTakes) {
  EXPECT_EQ(Taken("nn.conv2d(%x, %constant_w)"), "nn.conv2d");
  EXPECT_EQ(Taken("nn.conv2d(%x, %w)"), "");
  EXPECT_EQ(Taken("nn.conv2d(%h, %constant_h)"), "");
  EXPECT_EQ(Taken("nn.relu(%x)"), "");
  EXPECT_EQ(Taken("nn.relu(nn.conv2d(%x, %constant_w))"), "nn.conv2d nn.relu");
  EXPECT_EQ(Taken("add(nn.conv2d(%x, %constant_w), %constant_c11)"), "nn.conv2d add");
  EXPECT_EQ(Taken("add(%constant_c11, nn.conv2d(%x, %constant_w))"), "nn.conv2d add");
  // The constant is along another axis, or one value per element.
  EXPECT_EQ(Taken("add(nn.conv2d(%x, %constant_w), %constant_w1)"), "nn.conv2d");
  EXPECT_EQ(Taken("add(nn.conv2d(%x, %constant_w), %constant_full)"), "nn.conv2d");
  EXPECT_EQ(Taken("nn.bias_add(nn.dense(%v, %constant_d), %constant_c, axis=-1)"),
            "nn.dense nn.bias_add");
  EXPECT_EQ(Taken("add(nn.dense(%v, %constant_d), %v)"), "nn.dense add");
  // The addition broadcasts the result.
  EXPECT_EQ(Taken("add(nn.dense(%v, %constant_d), 1f)"), "nn.dense");
  // A residual followed by a bias: only the residual is taken.
  EXPECT_EQ(Taken("nn.bias_add(add(nn.conv2d(%x, %constant_w), %x), %constant_c)"),
            "nn.conv2d add");
  EXPECT_EQ(Taken("nn.relu(add(add(nn.conv2d(%x, %constant_w), %constant_c11), %x))"),
            "nn.conv2d add add nn.relu");
}

TEST(Dnnl, TheCRuntimeCannotTakeIt) {
  const absl::Status status = CheckModulesForCrt(Modules(R"(
  def @main(%v: Tensor[(2, 4), float32], %constant: Tensor[(4, 4), float32]) { nn.dense(%v, %constant) })"));
  EXPECT_THAT(std::string(status.message()),
              testing::StartsWith("module 'tvmgen_m_dnnl_main_0' (dnnl) cannot be taken by the C "
                                  "runtime"));
}

}  // namespace
}  // namespace kiln
