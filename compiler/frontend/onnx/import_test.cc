// SPDX-License-Identifier: Apache-2.0
// Models in protobuf's text form, and the Relay text that the import yields.
#include "compiler/frontend/onnx/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx/model_text.h"
#include "compiler/graph/relay_text.h"

namespace kiln::onnx_frontend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ImportOnnx, KeepsNames) {
  const absl::StatusOr<Graph> graph =
      Import(Model(Input("images:0", "1,4") +
                   "node { op_type: 'Relu' name: 'act' input: 'images:0' output: 'y' }"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->value(graph->inputs[0]).name, "images:0");
  EXPECT_EQ(graph->output_names, std::vector<std::string>{"y"});
  EXPECT_EQ(graph->value(graph->outputs[0]).name, "y");
  EXPECT_EQ(graph->node(0).source.node, "act");
  EXPECT_EQ(graph->node(0).source.file, "m.onnx");
  EXPECT_THAT(PrintRelay(*graph), HasSubstr("nn.relu("));
}

TEST(ImportOnnx, KeepsTheQuantisationOfInputsAndOutputs) {
  const std::string bytes = Model(
      "input { name: 'x' type { tensor_type { elem_type: 3 shape { dim { dim_value: 2 } } } } }\n" +
      Floats("s", "", {0.5}) + Floats("t", "", {0.25}) +
      "initializer { name: 'z' data_type: 3 int32_data: -3 }"
      "initializer { name: 'u' data_type: 2 int32_data: 200 }"
      "node { op_type: 'DequantizeLinear' input: 'x' input: 's' input: 'z' output: 'a' }"
      "node { op_type: 'Relu' input: 'a' output: 'b' }"
      "node { op_type: 'QuantizeLinear' input: 'b' input: 't' input: 'u' output: 'y' }");
  EXPECT_THAT(Text(bytes), HasSubstr("input_scales=[[0.5f]], input_zero_points=[[-3]], "
                                     "output_scales=[[0.25f]], output_zero_points=[[200]]"));
}

TEST(ImportOnnx, KeepsTheQuantisationThatQLinearOperatorsSay) {
  const std::string bytes = Model(
      "input { name: 'x' type { tensor_type { elem_type: 2 shape { dim { dim_value: 1 } dim { "
      "dim_value: 2 } } } } }\n" +
      Floats("s", "", {0.5}) + Floats("t", "", {0.25}) + Floats("v", "", {0.125}) +
      "initializer { name: 'z' data_type: 2 int32_data: 100 }"
      "initializer { name: 'w' data_type: 2 dims: 2 dims: 1 int32_data: 1 int32_data: 2 }"
      "node { op_type: 'QLinearMatMul' input: 'x' input: 's' input: 'z' input: 'w' input: 't' "
      "input: 'z' input: 'v' input: 'z' output: 'y' }");
  EXPECT_THAT(Text(bytes), HasSubstr("input_scales=[[0.5f]], input_zero_points=[[100]], "
                                     "output_scales=[[0.125f]], output_zero_points=[[100]]"));
}

struct Conversion {
  const char* what;
  std::string graph;
  int opset;
  const char* relay;
};

TEST(ImportOnnx, FollowsTheOpset) {
  const std::string x = Input("x", "2,1,3");
  const Conversion conversions[] = {
      {"axes of Squeeze: an attribute",
       x + "node { op_type: 'Squeeze' input: 'x' output: 'y' attribute { name: 'axes' type: INTS "
           "ints: 1 } }",
       11, "squeeze(%x, axis=[1])"},
      {"axes of Squeeze: an input",
       x + Ints("a", {1}) + "node { op_type: 'Squeeze' input: 'x' input: 'a' output: 'y' }", 13,
       "squeeze(%x, axis=[1])"},
      {"bounds of Clip: attributes",
       x + "node { op_type: 'Clip' input: 'x' output: 'y' attribute { name: 'max' type: FLOAT f: 6 "
           "} attribute { name: 'min' type: FLOAT f: 0 } }",
       6, "clip(%x, a_min=0f, a_max=6f)"},
      {"bounds of Clip: inputs",
       x + Floats("lo", "", {0}) + Floats("hi", "", {6}) +
           "node { op_type: 'Clip' input: 'x' input: 'lo' input: 'hi' output: 'y' }",
       11, "clip(%x, a_min=0f, a_max=6f)"},
      {"Softmax up to 12: over all dimensions from axis 1 on",
       x + "node { op_type: 'Softmax' input: 'x' output: 'y' }", 11, "nn.softmax(%0, axis=1)"},
      {"Softmax from 13 on: over the last dimension",
       x + "node { op_type: 'Softmax' input: 'x' output: 'y' }", 13, "nn.softmax(%x, axis=2)"},
  };
  for (const Conversion& c : conversions) {
    EXPECT_THAT(Text(Model(c.graph, c.opset)), HasSubstr(c.relay)) << c.what;
  }
}

// The operator handles the indices: negative ones count from the end, and indices out of range are
// clamped to the nearest element.
TEST(ImportOnnx, LeavesIndicesOfGatherElementsToTheOperator) {
  EXPECT_THAT(
      Text(Model(Input("x", "4") +
                 "input { name: 'i' type { tensor_type { elem_type: 7 shape { dim { dim_value: 3 } "
                 "} } } } node { op_type: 'GatherElements' input: 'x' input: 'i' output: 'y' }")),
      HasSubstr("gather(%x, %i, axis=0)"));
}

// Audio models cut off values far below the loudest one this way.
TEST(ImportOnnx, ClipsToBoundsThatAreComputed) {
  const std::string loudest = Input("x", "2,3") +
                              "node { op_type: 'ReduceMax' input: 'x' output: 'm' }"
                              "node { op_type: 'Neg' input: 'm' output: 'n' }";
  const std::string text = Text(
      Model(loudest + "node { op_type: 'Clip' input: 'x' input: 'n' input: 'm' output: 'y' }"));
  EXPECT_THAT(text, HasSubstr("maximum(%x, "));
  EXPECT_THAT(text, HasSubstr("minimum("));
  const std::string above =
      Text(Model(loudest + "node { op_type: 'Clip' input: 'x' input: 'n' output: 'y' }"));
  EXPECT_THAT(above, HasSubstr("maximum(%x, "));
  EXPECT_THAT(above, Not(HasSubstr("minimum(")));
  EXPECT_THAT(Text(Model(Input("x", "2,3") + Input("n", "3") +
                         "node { op_type: 'Clip' input: 'x' input: 'n' output: 'y' }")),
              HasSubstr("min: found Tensor[(3,), float32], wanted a scalar"));
}

// A scale along the normalized dimensions is part of the operator. Any other scale is a separate
// operator.
TEST(ImportOnnx, NormalizesWithScaleAndBiasInOneOperator) {
  const auto text = [](const char* scale, const char* bias) {
    return Text(Model(Input("x", "2,3,4") + Input("s", scale) + Input("b", bias) +
                          Node("LayerNormalization", "x,s,b", Attr("axis", 1)),
                      17));
  };
  for (const char* along : {"3,4", "1,3,4"}) {
    const std::string one = text(along, along);
    EXPECT_THAT(one, HasSubstr("nn.layer_norm("));
    EXPECT_THAT(one, Not(HasSubstr("multiply(")));
    EXPECT_THAT(one, Not(HasSubstr("add(")));
  }
  EXPECT_THAT(text("3,4", "4"), HasSubstr("add("));
  EXPECT_THAT(text("3,4", "4"), Not(HasSubstr("multiply(")));
  EXPECT_THAT(text("3,1", "3,4"), HasSubstr("multiply("));
}

// Exporters flatten this way: the batch dimension of x's shape, joined with -1.
TEST(ImportOnnx, FoldsShapeArithmetic) {
  const std::string text = Text(Model(
      Input("x", "2,3,4") + Ints("zero", {0}) + Ints("rest", {-1}) +
      "node { op_type: 'Shape' input: 'x' output: 's' }"
      "node { op_type: 'Gather' input: 's' input: 'zero' output: 'batch' }"
      "node { op_type: 'Concat' input: 'batch' input: 'rest' output: 't' attribute { name: 'axis' "
      "type: INT i: 0 } }"
      "node { op_type: 'Reshape' input: 'x' input: 't' output: 'y' }"));
  EXPECT_THAT(text, HasSubstr("Tensor[(2, 12), float32]"));
  EXPECT_THAT(text, Not(HasSubstr("concatenate")));
}

TEST(ImportOnnx, RoundsHalvesToEven) {
  EXPECT_EQ(
      Values(Model(Floats("x", "dims: 8", {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.3f, 2.7f}) +
                   "node { op_type: 'Round' input: 'x' output: 'y' }")),
      (std::vector<double>{0, 2, 2, 0, -2, -2, 0, 3}));
}

TEST(ImportOnnx, ConvolvesOneDimension) {
  const std::string x = Floats("x", "dims: 1 dims: 1 dims: 3", {1, 2, 3});
  const std::string w = Floats("w", "dims: 1 dims: 1 dims: 2", {1, 10});
  EXPECT_EQ(Values(Model(x + w + "node { op_type: 'Conv' input: 'x' input: 'w' output: 'y' }")),
            (std::vector<double>{21, 32}));
  EXPECT_EQ(
      Values(Model(x + w + "node { op_type: 'ConvTranspose' input: 'x' input: 'w' output: 'y' }")),
      (std::vector<double>{1, 12, 23, 30}));
}

TEST(ImportOnnx, FitsTransposedConvolutionsToTheirOutput) {
  const std::string x = Floats("x", "dims: 1 dims: 1 dims: 3", {1, 2, 3});
  const std::string w = Floats("w", "dims: 1 dims: 1 dims: 2", {1, 10});
  const auto values = [&](const char* attrs) {
    return Values(Model(x + w +
                        "node { op_type: 'ConvTranspose' input: 'x' input: 'w' output: 'y' " +
                        attrs + "}"));
  };
  EXPECT_EQ(values("attribute { name: 'output_shape' type: INTS ints: 3 }"),
            (std::vector<double>{12, 23, 30}));
  EXPECT_EQ(values("attribute { name: 'auto_pad' type: STRING s: 'SAME_UPPER' }"),
            (std::vector<double>{1, 12, 23}));
}

TEST(ImportOnnx, ResizesByAScaleThatIsNoQuotientOfExtents) {
  const std::string x = Floats("x", "dims: 5", {0, 1, 2, 3, 4});
  EXPECT_EQ(Values(Model(x + Floats("s", "dims: 1", {0.4f}) +
                         "node { op_type: 'Resize' input: 'x' input: '' input: 's' output: 'y' "
                         "attribute { name: 'mode' type: STRING s: 'linear' } attribute { name: "
                         "'coordinate_transformation_mode' type: STRING s: 'asymmetric' } }")),
            (std::vector<double>{0, 2.5}));
}

TEST(ImportOnnx, CountsWhatIsSelectedOfConstants) {
  const std::string x = Floats("x", "dims: 2 dims: 2", {3, 0, 0, 3});
  EXPECT_EQ(Values(Model(x + "node { op_type: 'NonZero' input: 'x' output: 'y' }")),
            (std::vector<double>{0, 1, 0, 1}));
  EXPECT_EQ(Values(Model(x + "node { op_type: 'Unique' input: 'x' output: 'y' }")),
            (std::vector<double>{0, 3}));
  EXPECT_THAT(Text(Model(Input("x", "2,2") + "node { op_type: 'NonZero' input: 'x' output: 'y' }")),
              HasSubstr("fix it with --constant x=VALUE, or end the model before this node "
                        "(--outputs) and select in the program"));
}

TEST(ImportOnnx, PinsDynamicDimensions) {
  const std::string model = Model(
      "input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'n' } dim { "
      "dim_value: 3 } } } } } node { op_type: 'Relu' input: 'x' output: 'y' }");
  EXPECT_EQ(Text(model),
            "m.onnx: input 'x': dimension 0 ('n') is dynamic; give the shape with --input "
            "x:?x3");
  EXPECT_THAT(Text(model, {{.name = "x", .shape = {5, 3}}}), HasSubstr("Tensor[(5, 3), float32]"));
  EXPECT_THAT(Text(model, {{.name = "x", .shape = {5, 4}}}),
              HasSubstr("found 4 as dimension 1, wanted 3"));
  EXPECT_THAT(Text(model, {{.name = "x", .shape = {5}}}), HasSubstr("found rank 1, wanted 2"));
  EXPECT_THAT(Text(model, {{.name = "x", .shape = {5, 3}, .dtype = DType::Int(8)}}),
              HasSubstr("found int8, wanted float32"));
  EXPECT_THAT(Text(model, {{.name = "x", .shape = {5, 3}}, {.name = "z"}}),
              HasSubstr("the model has no input 'z'; its inputs are x"));
}

TEST(ImportOnnx, WhatTakesLongIsLeftToTheCompiler) {
  const auto pooled = [](int window) {
    const std::string window_text = absl::StrCat("ints: [", window, ", ", window, "]");
    return Text(Model(absl::StrCat(
        Ints("shape", {1, 1, 100, 100}), Input("x", "1"),
        "node { op_type: 'ConstantOfShape' input: 'shape' output: 'c' } "
        "node { op_type: 'AveragePool' input: 'c' output: 'p' attribute { name: 'kernel_shape' "
        "type: INTS ",
        window_text, "} attribute { name: 'pads' type: INTS ints: [",
        absl::StrJoin(std::vector<int>(4, window - 1), ", "),
        "] } } node { op_type: 'Relu' input: 'p' output: 'r' } "
        "node { op_type: 'Add' input: 'r' input: 'x' output: 'y' }")));
  };
  EXPECT_THAT(pooled(2), Not(HasSubstr("pool")));
  EXPECT_THAT(pooled(100), HasSubstr("nn.avg_pool2d("));
  EXPECT_THAT(pooled(100), HasSubstr("nn.relu("));
}

// Weights stay bytes even if zero points are computed at run time; no wider copy is stored.
TEST(ImportOnnx, ProductsOfDynamicallyQuantisedTensorsAreOfBytes) {
  const auto model = [](const char* shape, const char* node) {
    return absl::StrCat(
        Input("x", shape),
        "initializer { name: 'w' data_type: 3 dims: 1 dims: 1 dims: 3 dims: 3 int32_data: [1, 2, "
        "3, "
        "4, 5, 6, 7, 8, 9] } "
        "initializer { name: 'm' data_type: 3 dims: 4 dims: 1 int32_data: [1, 2, 3, 4] } "
        "initializer { name: 'z' data_type: 3 int32_data: 0 } "
        "node { op_type: 'DynamicQuantizeLinear' input: 'x' output: 'q' output: 's' output: 'o' } "
        "node { output: 'y' input: 'q' ",
        node, " input: 'o' input: 'z' } ");
  };
  const std::string dense = Text(Model(model("2,4", "op_type: 'MatMulInteger' input: 'm'")));
  EXPECT_THAT(dense, HasSubstr("qnn.dense("));
  EXPECT_THAT(dense, HasSubstr("Tensor[(1, 4), int8]"));
  const std::string conv =
      Text(Model(model("1,1,4,4",
                       "op_type: 'ConvInteger' attribute { name: 'pads' type: INTS ints: [0, 1, 2, "
                       "3] } input: 'w'")));
  EXPECT_THAT(conv, HasSubstr("pad_width=[[0, 0], [0, 0], [0, 2], [1, 3]]"));
  EXPECT_THAT(conv, HasSubstr("qnn.conv2d("));
  EXPECT_THAT(conv, Not(HasSubstr(" padding=")));
}

// Some tools write models in an order that ignores what the bodies of an If read.
TEST(ImportOnnx, NodesComeInAnyOrder) {
  const std::string model =
      Model(Input("x", "1,4") +
            "initializer { name: 'c' data_type: 9 int32_data: 1 } "
            "node { op_type: 'If' input: 'c' output: 'y' "
            "attribute { name: 'then_branch' type: GRAPH g { "
            "node { op_type: 'Sqrt' input: 'r' output: 'a' } "
            "node { op_type: 'Exp' input: 'a' output: 'b' } output { name: 'b' } } } "
            "attribute { name: 'else_branch' type: GRAPH g { output { name: 'r' } } } } "
            "node { op_type: 'Relu' input: 's' output: 'r' } "
            // The 'a' of the body is not the 'a' of the outer graph.
            "node { op_type: 'Sin' input: 'r' output: 'a' } "
            "node { op_type: 'Abs' input: 'x' output: 's' }");
  const std::string text = Text(model);
  EXPECT_THAT(text, HasSubstr("abs(%x)"));
  EXPECT_THAT(text, HasSubstr("nn.relu(%0)"));
  EXPECT_THAT(text, HasSubstr("exp("));
  EXPECT_THAT(text, Not(HasSubstr("sin(")));
}

// The body reads its own 'a', although the outer graph has one too.
TEST(ImportOnnx, NodesOfABodyComeInAnyOrder) {
  const std::string text =
      Text(Model(Input("x", "1,4") +
                 "initializer { name: 'c' data_type: 9 int32_data: 1 } "
                 "node { op_type: 'Sin' input: 'x' output: 'a' } "
                 "node { op_type: 'If' input: 'c' output: 'y' "
                 "attribute { name: 'then_branch' type: GRAPH g { "
                 "node { op_type: 'Exp' input: 'a' output: 'b' } "
                 "node { op_type: 'Sqrt' input: 'x' output: 'a' } output { name: 'b' } } } "
                 "attribute { name: 'else_branch' type: GRAPH g { output { name: 'a' } } } }"));
  EXPECT_THAT(text, HasSubstr("sqrt(%x)"));
  EXPECT_THAT(text, Not(HasSubstr("sin(")));
}

// Small results of large constants are computed, and each value of a chain only once.
TEST(ImportOnnx, ComputesSmallThingsOfLargeOnes) {
  std::string nodes =
      "node { op_type: 'ConstantOfShape' input: 'shape' output: 'c' attribute { name: 'value' "
      "type: "
      "TENSOR t { data_type: 7 dims: 1 int64_data: 3 } } } "
      "node { op_type: 'ReduceMax' input: 'c' output: 'm0' } ";
  constexpr int kNodes = 2000;
  for (int i = 0; i < kNodes; ++i) {
    absl::StrAppend(&nodes, "node { op_type: 'Neg' input: 'm", i, "' output: 'm", i + 1, "' } ");
  }
  const std::string model =
      Model(Ints("shape", {70000}) + Input("x", "1") + nodes +
            absl::StrCat("node { op_type: 'Reshape' input: 'm", kNodes, "' input: 'one' output: ",
                         "'n' } node { op_type: 'Expand' input: 'x' input: 'n' output: 'y' } ") +
            Ints("one", {1}));
  EXPECT_THAT(Text(model), HasSubstr("shape=[3]"));
}

TEST(ParseInputPin, ReadsShapesAndTypes) {
  const InputPin plain = ParseInputPin("data:1x3").value();
  EXPECT_EQ(plain.name, "data");
  EXPECT_EQ(plain.shape, (Shape{1, 3}));
  EXPECT_FALSE(plain.dtype.has_value());
  const InputPin typed = ParseInputPin("serving:0:2:int8").value();
  EXPECT_EQ(typed.name, "serving:0");
  EXPECT_EQ(typed.shape, Shape{2});
  EXPECT_EQ(typed.dtype, DType::Int(8));
  EXPECT_EQ(ParseInputPin("x:")->shape, Shape{});
  for (const char* wrong :
       {"", "x", "x:1xa", "x:-1", ":1", "x:1:float", "x:x1x2", "x:1xx2", "x:1x 2", "x:1x2x"}) {
    EXPECT_FALSE(ParseInputPin(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace kiln::onnx_frontend
