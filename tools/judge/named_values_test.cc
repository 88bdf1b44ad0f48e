// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/named_values.h"

#include <gtest/gtest.h>

#include <memory>

#include "compiler/ops/op_def.h"
#include "tools/judge/quantization.h"

namespace kiln::tools {
namespace {

// x -> relu "a" -> exp "b" -> quantize "q" -> dequantize, the output "y".
Graph Model() {
  Graph graph;
  const TensorType real = {{2}, DType::Float(32)}, integer = {{2}, DType::Int(8)};
  const ValueId scale = graph.AddConstant(Tensor::Scalar(DType::Float(32), 0.25)),
                zero = graph.AddConstant(Tensor::Scalar(DType::Int(32), 3));
  ValueId value = graph.AddInput("x", real);
  const auto add = [&](const char* op, const std::string& name, const std::string& layer,
                       std::vector<ValueId> more, const TensorType& type) {
    more.insert(more.begin(), value);
    const NodeId node =
        graph.AddNode({.op = FindOpSchema(op), .inputs = more, .source = {.node = layer}}, {type});
    value = graph.node(node).outputs[0];
    graph.value(value).name = name;
  };
  add("nn.relu", "a", "relu1", {}, real);
  add("exp", "b", "exp1", {}, real);
  add("qnn.quantize", "q", "quantize1", {scale, zero}, integer);
  add("qnn.dequantize", "", "dequantize1", {scale, zero}, real);
  graph.outputs = {value};
  graph.output_names = {"y"};
  return graph;
}

std::vector<std::string> Names(const std::vector<NamedValue>& values) {
  std::vector<std::string> names;
  for (const NamedValue& value : values) names.push_back(value.name);
  return names;
}

using Strings = std::vector<std::string>;

TEST(NamedValuesTest, InTheOrderOfTheNodesAndOutputsByTheirOwnNames) {
  const std::vector<NamedValue> values = NamedValues(Model());
  EXPECT_EQ(Names(values), (Strings{"a", "b", "q", "y"}));
  EXPECT_EQ(values[1].layer, "exp1");
}

TEST(NamedValuesTest, ANameOfSeveralValuesIsNone) {
  Graph graph = Model();
  graph.value(graph.node(1).outputs[0]).name = "a";
  EXPECT_EQ(Names(NamedValues(graph)), (Strings{"q", "y"}));
}

TEST(NamedValuesTest, KeptIsWhatTheGroupsMake) {
  const Graph graph = Model();
  Graph fused;
  const ValueId x = fused.AddInput("x", graph.type(graph.inputs[0]));
  auto body = std::make_shared<Graph>();
  ValueId inner = body->AddInput("p0", graph.type(graph.inputs[0]));
  for (const char* layer : {"relu1", "exp1"}) {
    const NodeId node =
        body->AddNode({.op = FindOpSchema("exp"), .inputs = {inner}, .source = {.node = layer}},
                      {graph.type(graph.inputs[0])});
    inner = body->node(node).outputs[0];
  }
  body->outputs = {inner};
  fused.AddNode({.inputs = {x}, .body = body}, {graph.type(graph.inputs[0])});
  const std::vector<NamedValue> kept = KeptValues(graph, fused);
  EXPECT_EQ(Names(kept), (Strings{"b", "y"}));
  EXPECT_EQ(kept[0].layer, "relu1 exp1");
}

TEST(NamedValuesTest, OutputsAreReplaced) {
  Graph graph = Model();
  graph.attrs.Set("output_scales", AttrValue(1.0));
  const Graph more = WithOutputs(graph, NamedValues(graph));
  EXPECT_EQ(more.output_names, (Strings{"a", "b", "q", "y"}));
  EXPECT_EQ(more.outputs.size(), 4u);
  EXPECT_FALSE(more.attrs.Has("output_scales"));
}

TEST(QuantizationTest, OperatorsSayTheScaleAndWhatWasQuantised) {
  const absl::StatusOr<TensorScales> scales = ScalesOf(Model(), "", "model.onnx");
  ASSERT_TRUE(scales.ok()) << scales.status();
  EXPECT_EQ(*scales, (TensorScales{{"q", {0.25, 3, "b"}}}));
}

TEST(QuantizationTest, RealNumbers) {
  const Tensor integers = Tensor::From<int8_t>({2}, DType::Int(8), {3, 5});
  EXPECT_EQ(Dequantize(integers, {0.25, 3, ""}),
            Tensor::From<double>({2}, DType::Float(64), {0, 0.5}));
}

}  // namespace
}  // namespace kiln::tools
