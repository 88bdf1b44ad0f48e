// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/port_quantization.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/dtype.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/op_schema.h"

namespace kiln::frontend {
namespace {

const TensorType kBytes = {{4}, DType::Int(8)}, kFloats = {{4}, kF32};

const OpSchema kQuantize = {.name = "qnn.quantize"}, kDequantize = {.name = "qnn.dequantize"},
               kSum = {.name = "add"};

ValueId Add(Graph& graph, const OpSchema& op, std::vector<ValueId> inputs) {
  const TensorType& type = &op == &kQuantize ? kBytes : kFloats;
  const NodeId node = graph.AddNode({.op = &op, .inputs = std::move(inputs)}, {type});
  return graph.node(node).outputs[0];
}

// Returns the data quantized or dequantized with a single scale.
ValueId Convert(Graph& graph, const OpSchema& op, ValueId data, double scale, int zero_point) {
  return Add(graph, op,
             {data, graph.AddConstant(Tensor::Scalar(kF32, scale)),
              graph.AddConstant(Tensor::Scalar(kI32, zero_point))});
}

std::string Attr(const Graph& graph, const char* name) { return graph.attrs.Get(name).ToString(); }

TEST(PortQuantization, OfOperatorsAtInputsAndOutputs) {
  Graph graph;
  const ValueId a = graph.AddInput("a", kBytes), b = graph.AddInput("b", kFloats);
  const ValueId real = Convert(graph, kDequantize, a, 0.5, -3);
  const ValueId sum = Add(graph, kSum, {real, b});
  graph.outputs = {sum, Convert(graph, kQuantize, sum, 0.25, 7)};
  SetPortQuantizationFromOperators(graph);
  EXPECT_EQ(Attr(graph, "input_scales"), "[[0.5f], []]");
  EXPECT_EQ(Attr(graph, "input_zero_points"), "[[-3], []]");
  EXPECT_EQ(Attr(graph, "output_scales"), "[[], [0.25f]]");
  EXPECT_EQ(Attr(graph, "output_zero_points"), "[[], [7]]");
}

TEST(PortQuantization, ReadersWithOneScaleAgree) {
  Graph graph;
  const ValueId x = graph.AddInput("x", kBytes);
  for (int i = 0; i < 2; ++i) graph.outputs.push_back(Convert(graph, kDequantize, x, 2, 1));
  SetPortQuantizationFromOperators(graph);
  EXPECT_EQ(Attr(graph, "input_scales"), "[[2f]]");
  EXPECT_FALSE(graph.attrs.Has("output_scales"));
}

// The third reader has another zero point. The fourth equals the first again.
TEST(PortQuantization, ReadersWithSeveralScalesSayNothing) {
  Graph graph;
  const ValueId x = graph.AddInput("x", kBytes);
  for (int zero_point : {1, 1, 2, 1}) {
    graph.outputs.push_back(Convert(graph, kDequantize, x, 2, zero_point));
  }
  SetPortQuantizationFromOperators(graph);
  EXPECT_TRUE(graph.attrs.values().empty());
}

TEST(PortQuantization, ComputedScalesAndThoseOfPlacesAreNotOfTheWholeTensor) {
  Graph graph;
  const ValueId x = graph.AddInput("x", kBytes), y = graph.AddInput("y", kBytes);
  const ValueId scale = graph.AddInput("scale", {{}, kF32});
  const ValueId zero = graph.AddConstant(Tensor::Scalar(kI32, 0));
  const ValueId zeros =
      graph.AddConstant(Tensor::From<int32_t>({4}, kI32, std::vector<int32_t>(4)));
  const ValueId scales =
      graph.AddConstant(Tensor::From<float>({4}, kF32, std::vector<float>{1, 2, 3, 4}));
  graph.outputs = {Add(graph, kDequantize, {x, scale, zero}),
                   Add(graph, kDequantize, {y, scales, zeros})};
  SetPortQuantizationFromOperators(graph);
  EXPECT_TRUE(graph.attrs.values().empty());
}

}  // namespace
}  // namespace kiln::frontend
