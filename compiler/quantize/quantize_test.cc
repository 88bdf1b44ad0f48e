// SPDX-License-Identifier: Apache-2.0
// Small networks from the ONNX model to the quantized one. To run a graph, its inputs are made
// constants and the constant interpreter evaluates it.
#include "compiler/quantize/quantize.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/quantize/operators.h"

namespace kiln::quantize {
namespace {

absl::StatusOr<Run> Interpret(const Graph& graph) {
  return [graph](const Sample& sample) -> absl::StatusOr<std::vector<Tensor>> {
    Graph fixed = graph;
    for (const ValueId id : fixed.inputs) {
      Value& value = fixed.value(id);
      value.kind = ValueKind::kConstant;
      value.constant = sample.at(value.name);
    }
    fixed.inputs.clear();
    return EvaluateAllConstants(fixed);
  };
}

// Builds a model with the input x. Nodes are written as "Conv x w b -> y".
class Builder {
 public:
  explicit Builder(const Shape& x, int opset = 13) {
    model_.set_ir_version(7);
    model_.add_opset_import()->set_version(opset);
    AddPort(*model_.mutable_graph()->add_input(), "x", x);
  }
  static void AddPort(onnx::ValueInfoProto& port, const std::string& name, const Shape& shape) {
    port.set_name(name);
    auto& type = *port.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (const int64_t extent : shape) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
  Builder& Constant(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    onnx::TensorProto& tensor = *model_.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t extent : shape) tensor.add_dims(extent);
    const auto count = static_cast<size_t>(NumElements(shape));
    for (size_t i = 0; i < count; ++i) tensor.add_float_data(values[i % values.size()]);
    return *this;
  }
  Builder& Node(const std::string& text, const std::string& ints_name = "",
                const std::vector<int64_t>& ints = {}) {
    onnx::NodeProto& node = *model_.mutable_graph()->add_node();
    const std::pair<std::string, std::string> sides = absl::StrSplit(text, " -> ");
    const std::vector<std::string> words = absl::StrSplit(sides.first, ' ');
    node.set_op_type(words[0]);
    for (size_t i = 1; i < words.size(); ++i) node.add_input(words[i]);
    for (const absl::string_view output : absl::StrSplit(sides.second, ' ')) {
      node.add_output(std::string(output));
    }
    node.set_name("node_" + node.output(0));
    if (ints_name.empty()) return *this;
    onnx::AttributeProto& attr = *node.add_attribute();
    attr.set_name(ints_name);
    attr.set_type(ints_name == "axis" ? onnx::AttributeProto::INT : onnx::AttributeProto::INTS);
    if (ints_name == "axis") {
      attr.set_i(ints[0]);
    } else {
      for (const int64_t value : ints) attr.add_ints(value);
    }
    return *this;
  }
  std::string Output(const std::string& name) {
    model_.mutable_graph()->add_output()->set_name(name);
    return model_.SerializeAsString();
  }

 private:
  onnx::ModelProto model_;
};

QuantizeOptions Options() { return {.evaluate = EvaluateConstants, .compile = Interpret}; }

absl::StatusOr<Quantized> QuantizeModel(const std::string& bytes,
                                        const QuantizeOptions& options = Options()) {
  const absl::StatusOr<Quantizer> quantizer = Quantizer::Read(bytes, "m.onnx", options);
  if (!quantizer.ok()) return quantizer.status();
  const TensorType type = quantizer->inputs()[0].type;
  std::vector<float> values;
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    values.push_back(static_cast<float>(i * 37 % 64) / 32 - 1);
  }
  return quantizer->Run({{{"x", Tensor::From<float>(type.shape, type.dtype, values)}}});
}

// Returns the operators of a quantized model in order. Q and DQ are QuantizeLinear and
// DequantizeLinear.
std::string Operators(const std::string& bytes) {
  const Network network = Network::Read(bytes, "m.onnx").value();
  std::vector<std::string> names;
  for (const onnx::NodeProto& node : network.graph().node()) {
    names.push_back(node.op_type() == "QuantizeLinear"     ? "Q"
                    : node.op_type() == "DequantizeLinear" ? "DQ"
                                                           : node.op_type());
  }
  return absl::StrJoin(names, " ");
}

const std::vector<float> kWeights = {0.5f, -1, 0.25f, 0.75f, -0.125f, 1};

Builder TwoConvs() {
  Builder builder({1, 2, 6, 6});
  builder.Constant("w1", {4, 2, 3, 3}, kWeights).Constant("b1", {4}, {1, -2, 0.5f, 0});
  builder.Constant("w2", {3, 4, 3, 3}, kWeights);
  return builder;
}

TEST(QuantizeTest, AnActivationIsPartOfItsLayer) {
  const std::string model =
      TwoConvs().Node("Conv x w1 b1 -> a").Node("Relu a -> r").Node("Conv r w2 -> y").Output("y");
  const Quantized q = QuantizeModel(model).value();
  EXPECT_EQ(Operators(q.bytes), "Q DQ DQ DQ Conv Relu Q DQ DQ Conv");
  ASSERT_EQ(q.layers.size(), 3u);
  EXPECT_EQ(q.layers[1].operators, "Conv+Relu");
  EXPECT_EQ(q.layers[1].range.min, 0);
  EXPECT_EQ(q.layers[1].scale->zero_point, -128);
  EXPECT_FALSE(q.layers[2].scale.has_value());
  for (const LayerReport& layer : q.layers) {
    EXPECT_GT(layer.alone.Decibels(), 30) << layer.name;
    EXPECT_GT(layer.model.Decibels(), 30) << layer.name;
  }
  EXPECT_EQ(q.outputs[0].error.Decibels(), q.layers[2].model.Decibels());
  EXPECT_TRUE(q.floats.empty());
}

TEST(QuantizeTest, NamesWithinBodiesAreTaken) {
  onnx::ModelProto model;
  onnx::NodeProto& node = *model.mutable_graph()->add_node();
  node.add_output("y");
  onnx::AttributeProto& attr = *node.add_attribute();
  attr.set_name("body");
  attr.set_type(onnx::AttributeProto::GRAPH);
  attr.mutable_g()->add_input()->set_name("given");
  attr.mutable_g()->add_node()->add_output("made");
  const Network network = Network::Read(model.SerializeAsString(), "m.onnx").value();
  EXPECT_EQ(network.Names(), (std::set<std::string>{"given", "made", "y"}));
}

TEST(QuantizeTest, NodesComeInAnyOrder) {
  const std::string model =
      TwoConvs().Node("Conv r w2 -> y").Node("Relu a -> r").Node("Conv x w1 b1 -> a").Output("y");
  const Quantized q = QuantizeModel(model).value();
  EXPECT_EQ(Operators(q.bytes), "Q DQ DQ DQ Conv Relu Q DQ DQ Conv");
  EXPECT_TRUE(q.floats.empty());
}

TEST(QuantizeTest, WhatIsMovedKeepsItsScale) {
  const std::string model = TwoConvs()
                                .Node("Conv x w1 b1 -> a")
                                .Node("MaxPool a -> p", "kernel_shape", {2, 2})
                                .Node("Conv p w2 -> y")
                                .Output("y");
  const Quantized q = QuantizeModel(model).value();
  EXPECT_EQ(Operators(q.bytes), "Q DQ DQ DQ Conv Q DQ MaxPool Q DQ DQ Conv");
  const Network network = Network::Read(q.bytes, "m.onnx").value();
  EXPECT_EQ(network.constants.at("a_scale"), network.constants.at("p_scale"));
  EXPECT_EQ(network.constants.at("a_zero_point"), network.constants.at("p_zero_point"));
}

TEST(QuantizeTest, ABatchNormalizationIsFoldedFirst) {
  Builder builder = TwoConvs();
  for (const char* name : {"s", "m", "v", "o"}) builder.Constant(name, {4}, {0.5f, 2, 1, 3});
  const std::string model = builder.Node("Conv x w1 -> a")
                                .Node("BatchNormalization a s o m v -> n")
                                .Node("Relu n -> r")
                                .Node("Conv r w2 -> y")
                                .Output("y");
  const Quantized q = QuantizeModel(model).value();
  EXPECT_EQ(Operators(q.bytes), "Q DQ DQ DQ Conv Relu Q DQ DQ Conv");
  EXPECT_GT(q.layers[1].model.Decibels(), 30);
}

TEST(QuantizeTest, AnAddedConstantIsTheBiasOfAConvolution) {
  const std::string model = TwoConvs()
                                .Constant("c", {4, 1, 1}, {1, 2, 3, 4})
                                .Node("Conv x w1 b1 -> a")
                                .Node("Add c a -> y")
                                .Output("y");
  EXPECT_EQ(Operators(QuantizeModel(model)->bytes), "Q DQ DQ DQ Conv");
}

TEST(QuantizeTest, ResidualsAddQuantisedNumbers) {
  const std::string model = TwoConvs()
                                .Constant("w3", {3, 2, 3, 3}, kWeights)
                                .Constant("w4", {2, 3, 1, 1}, kWeights)
                                .Node("Conv x w1 b1 -> a")
                                .Node("Conv a w2 -> c")
                                .Node("Conv x w3 -> d", "pads", {0, 0, 0, 0})
                                .Node("MaxPool d -> e", "kernel_shape", {3, 3})
                                .Node("Add c e -> s")
                                .Node("Relu s -> r")
                                .Node("Conv r w4 -> y")
                                .Output("y");
  const Quantized q = QuantizeModel(model).value();
  EXPECT_EQ(Operators(q.bytes),
            "Q DQ DQ DQ Conv Q DQ DQ Conv Q DQ DQ Conv Q DQ MaxPool Q DQ Add Relu Q DQ DQ Conv");
}

TEST(QuantizeTest, AConcatSharesTheScaleOfInputsThatAreAlike) {
  for (const float factor : {1.0f, 0.1f}) {
    Builder builder({1, 2, 4, 4});
    builder.Constant("w1", {2, 2, 1, 1}, {1, 0.5f}).Constant("w2", {2, 2, 1, 1}, {factor, 0});
    builder.Constant("w3", {1, 4, 1, 1}, kWeights);
    const std::string model = builder.Node("Conv x w1 -> a")
                                  .Node("Conv x w2 -> b")
                                  .Node("Concat a b -> c", "axis", {1})
                                  .Node("Conv c w3 -> y")
                                  .Output("y");
    const Network network = Network::Read(QuantizeModel(model)->bytes, "m.onnx").value();
    EXPECT_EQ(network.constants.at("a_scale"), network.constants.at("c_scale"));
    EXPECT_EQ(network.constants.at("b_scale") == network.constants.at("c_scale"), factor == 1);
  }
}

TEST(QuantizeTest, WhatStaysFloatSaysWhy) {
  QuantizeOptions options = Options();
  options.select.keep_float = {"node_a"};
  const std::string model = TwoConvs()
                                .Node("Conv x w1 b1 -> a")
                                .Node("Conv a w2 -> b")
                                .Node("Softmax b -> y")
                                .Output("y");
  const Quantized q = QuantizeModel(model, options).value();
  EXPECT_EQ(Operators(q.bytes), "Conv Q DQ DQ Conv Softmax");
  ASSERT_EQ(q.floats.size(), 2u);
  EXPECT_EQ(q.floats[0].reason, "--keep-float names it");
  EXPECT_EQ(q.floats[1].reason, "it has no int8 form here");
}

TEST(QuantizeTest, OldOpsetsAreConverted) {
  Builder builder({1, 4}, 9);
  const std::string model =
      builder.Constant("w", {4, 3}, kWeights).Node("MatMul x w -> y").Output("y");
  const Quantized q = QuantizeModel(model).value();
  const Network network = Network::Read(q.bytes, "m.onnx").value();
  EXPECT_EQ(network.opset(), 13);
  EXPECT_EQ(network.constants.at("w_scale").type().shape, Shape{3});
}

TEST(QuantizeTest, ASoftmaxOfAnOldOpsetIsConverted) {
  const std::string model = Builder({2, 4}, 9)
                                .Constant("w", {4, 3}, kWeights)
                                .Node("MatMul x w -> a")
                                .Node("Softmax a -> y", "axis", {1})
                                .Output("y");
  const Quantized q = QuantizeModel(model).value();
  EXPECT_EQ(Operators(q.bytes), "Q DQ DQ MatMul Softmax");
  EXPECT_GT(q.outputs[0].error.Decibels(), 30);
}

TEST(QuantizeTest, OneScalePerLayerAndZeroPointsOfZero) {
  QuantizeOptions options = Options();
  options.per_channel = false;
  options.calibration.symmetric = true;
  const std::string model = TwoConvs().Node("Conv x w1 b1 -> y").Output("y");
  const Quantized q = QuantizeModel(model, options).value();
  const Network network = Network::Read(q.bytes, "m.onnx").value();
  EXPECT_EQ(network.constants.at("w1_scale").type().shape, Shape());
  EXPECT_EQ(network.constants.at("x_zero_point").AsInt(0), 0);
  EXPECT_EQ(network.constants.at("x_scale").AsDouble(0), double{1.0f / 127});
}

TEST(QuantizeTest, WrongModelsAndOptionsAreRefused) {
  const std::string model = TwoConvs().Node("Conv x w1 b1 -> y").Output("y");
  const std::string quantised = QuantizeModel(model)->bytes;
  EXPECT_EQ(QuantizeModel(quantised).status().message(),
            "m.onnx: the model is quantized already: found node 'x_quantized' (QuantizeLinear), "
            "wanted a float32 model");
  EXPECT_EQ(QuantizeModel(Builder({1, 4}).Node("Softmax x -> y").Output("y")).status().message(),
            "m.onnx: no layer can be quantized, wanted one at least\n"
            "  node_y: it has no int8 form here");
  QuantizeOptions options = Options();
  options.select.keep_float = {"conv7"};
  EXPECT_EQ(QuantizeModel(model, options).status().message(),
            "m.onnx: --keep-float: the model has no node 'conv7' and none that computes it");
  options.select = {.op_types = {"Softmax"}};
  EXPECT_EQ(std::string(QuantizeModel(model, options).status().message()).substr(0, 41),
            "m.onnx: --op-types: found 'Softmax', want");
}

TEST(QuantizeTest, ValuesThatAreNotFiniteNameTheirTensor) {
  const std::string model = Builder({1, 4})
                                .Constant("w", {4, 2}, {3e38f})
                                .Constant("u", {2, 2}, kWeights)
                                .Node("MatMul x w -> a")
                                .Node("MatMul a u -> y")
                                .Output("y");
  const Quantizer quantizer = Quantizer::Read(model, "m.onnx", Options()).value();
  const Tensor x = Tensor::Filled({{1, 4}, DType::Float(32)}, 2);
  EXPECT_EQ(quantizer.Run({{{"x", x}}}).status().message(),
            "m.onnx: sample 0: tensor 'a': found inf, wanted finite numbers");
}

}  // namespace
}  // namespace kiln::quantize
