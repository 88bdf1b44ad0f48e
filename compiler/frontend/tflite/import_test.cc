// SPDX-License-Identifier: Apache-2.0
// Small models, and the Relay text or the error that the import yields.
#include "compiler/frontend/tflite/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/graph/relay_text.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Type = ModelBuilder::Type;

absl::StatusOr<Graph> Import(const ModelBuilder& b, const ImportOptions& options = {}) {
  return ImportTflite(b.Bytes(), "m.tflite", options, EvaluateConstants);
}

// Returns the graph as text, or the error.
std::string Text(const ModelBuilder& b, const ImportOptions& options = {}) {
  const absl::StatusOr<Graph> graph = Import(b, options);
  return graph.ok() ? PrintRelay(*graph) : std::string(graph.status().message());
}

std::vector<std::string> InputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (ValueId input : graph.inputs) names.push_back(graph.value(input).name);
  return names;
}

TEST(ImportTflite, KnowsItsFiles) {
  EXPECT_TRUE(IsTflite(ModelBuilder().Bytes()));
  EXPECT_FALSE(IsTflite("#[version = \"0.0.5\"]"));
}

TEST(ImportTflite, KeepsNames) {
  ModelBuilder b;
  const int x = b.Input("images:0", {1, 4});
  b.Output(b.Op(BuiltinOperator::RELU, {x}, "act", {1, 4}));
  const absl::StatusOr<Graph> graph = Import(b);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(InputNames(*graph), ElementsAre("images:0"));
  EXPECT_THAT(graph->output_names, ElementsAre("act"));
  EXPECT_EQ(graph->value(graph->outputs[0]).name, "act");
  EXPECT_EQ(graph->node(0).source.node, "act");
  EXPECT_EQ(graph->node(0).source.file, "m.tflite");
}

TEST(ImportTflite, EndsAtTensors) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 4}), y = b.Input("y", {1, 4});
  const int act = b.Op(BuiltinOperator::RELU, {x}, "act", {1, 4});
  const int sum = b.Op(BuiltinOperator::ADD, {act, y}, "sum", {1, 4});
  b.Output(b.Op(BuiltinOperator::RELU, {sum}, "end", {1, 4}));
  absl::StatusOr<Graph> graph = Import(b, {.outputs = {"act"}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(InputNames(*graph), ElementsAre("x"));
  EXPECT_THAT(graph->output_names, ElementsAre("act"));
  EXPECT_EQ(graph->nodes.size(), 1u);
  graph = Import(b, {.outputs = {"sum", "act"}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(InputNames(*graph), ElementsAre("x", "y"));
  EXPECT_THAT(graph->output_names, ElementsAre("sum", "act"));
  EXPECT_EQ(Text(b, {.outputs = {"smu"}}),
            "m.tflite: --outputs: the model has no tensor 'smu', perhaps 'sum'");
}

// The importer keeps integers, and passes decide whether integers or floats are stored.
TEST(ImportTflite, WeightsOfIntegersOfADenseLayerStayIntegers) {
  for (const bool per_channel : {false, true}) {
    ModelBuilder b;
    const int x = b.Input("x", {1, 3});
    const int w = b.Constant<int8_t>({2, 3}, Type::INT8, {1, -2, 3, -4, 5, -6});
    if (per_channel) {
      b.Quantize(w, {0.5, 0.25}, {0, 0});
    } else {
      b.Quantize(w, {0.5}, {0});
    }
    b.Output(b.Op(BuiltinOperator::FULLY_CONNECTED, {x, w, -1}, "y", {1, 2},
                  schema::FullyConnectedOptionsT()));
    const std::string text = Text(b);
    EXPECT_THAT(text, HasSubstr("= qnn.dequantize(meta[relay.Constant][0] /* ty=Tensor[(2, 3), "
                                "int8] */, "));
    EXPECT_THAT(text, HasSubstr(per_channel ? "axis=0) /* ty=Tensor[(2, 3), float32] */"
                                            : "0.5f64, 0) /* ty=Tensor[(2, 3), float32] */"));
    EXPECT_THAT(text, HasSubstr("nn.dense(%x, %0, units=2)"));
  }
}

TEST(ImportTflite, ConstantsFixInputs) {
  ModelBuilder b;
  const int x = b.Input("x", {6}), shape = b.Input("shape", {2}, Type::INT32);
  b.Output(b.Op(BuiltinOperator::RESHAPE, {x, shape}, "y", {2, 3}));
  EXPECT_THAT(Text(b), HasSubstr("(input 'shape') is computed from the model's inputs"));
  const Tensor fixed = Tensor::From<int32_t>({2}, DType::Int(32), std::vector<int32_t>{3, 2});
  const absl::StatusOr<Graph> graph = Import(b, {.constants = {{"shape", fixed}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(InputNames(*graph), ElementsAre("x"));
  EXPECT_THAT(graph->type(graph->outputs[0]).shape, ElementsAre(3, 2));
  EXPECT_THAT(Text(b, {.constants = {{"y", fixed}}}), HasSubstr("the model has no input 'y'"));
}

TEST(ImportTflite, VariablesOfInt8HoldTheirZeroPointAtFirst) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 1}, Type::INT8), y = b.Add("y", {1, 1}, Type::INT8);
  const int state = b.Add("state", {1, 2}, Type::INT8);
  b.tensor(state).is_variable = true;
  const int features = b.Constant({1, 1}, Type::INT8, std::vector<int8_t>{1});
  const int time = b.Constant({1, 2}, Type::INT8, std::vector<int8_t>{1, 1});
  for (int tensor : {x, y, state, features, time}) {
    b.Quantize(tensor, {0.5}, {tensor == state ? 3 : 0});
  }
  schema::SVDFOptionsT options;
  options.rank = 1;
  b.AddOperator(BuiltinOperator::SVDF, {x, features, time, -1, state}, {y}, options);
  b.Output(y);
  EXPECT_THAT(Text(b), HasSubstr("state_initial=[3f]"));
}

TEST(ImportTflite, NamesAreUnique) {
  ModelBuilder b;
  const int x = b.Input("x", {1}), y = b.Input("x", {1}), z = b.Input("", {1});
  for (int i : {x, y, z}) b.Output(i);
  const absl::StatusOr<Graph> graph = Import(b);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(InputNames(*graph), ElementsAre("x", "x_2", "input2"));
  EXPECT_THAT(graph->output_names, ElementsAre("x", "x_2", "output2"));
}

TEST(ImportTflite, DataStayChannelsLast) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 5, 5, 2}), w = b.Floats({1, 3, 3, 2}, std::vector<float>(18, 1));
  schema::DepthwiseConv2DOptionsT options;
  options.stride_h = 2;
  options.stride_w = 1;
  options.fused_activation_function = schema::Activation::RELU6;
  b.Output(b.Op(BuiltinOperator::DEPTHWISE_CONV_2D, {x, w}, "y", {1, 3, 5, 2}, options));
  EXPECT_THAT(Text(b), HasSubstr("data_layout=\"NHWC\", kernel_layout=\"IHWO\""));
  EXPECT_THAT(Text(b), HasSubstr("strides=[2, 1], padding=[1, 1, 1, 1]"));
  EXPECT_THAT(Text(b), HasSubstr("clip("));
}

TEST(ImportTflite, ShapeArithmeticIsFolded) {
  ModelBuilder b;
  const int x = b.Input("x", {2, 3});
  const int shape = b.Op(BuiltinOperator::SHAPE, {x}, "shape", {2}, Type::INT32);
  const int first = b.Add("first", {}, Type::INT32);
  schema::StridedSliceOptionsT options;
  options.shrink_axis_mask = 1;
  b.AddOperator(BuiltinOperator::STRIDED_SLICE, {shape, b.Ints({0}), b.Ints({1}), b.Ints({1})},
                {first}, options);
  schema::PackOptionsT pack;
  const int one = b.Constant<int32_t>({}, Type::INT32, {-1});
  const int wanted = b.Op(BuiltinOperator::PACK, {first, one}, "wanted", {2}, pack, Type::INT32);
  b.Output(b.Op(BuiltinOperator::RESHAPE, {x, wanted}, "y", {2, 3}));
  EXPECT_THAT(Text(b), HasSubstr("reshape(%x, newshape=[2, -1]"));
}

TEST(ImportTflite, PinsChangeDynamicDimensions) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 4});
  b.tensor(x).shape_signature = {-1, 4};
  b.Output(b.Op(BuiltinOperator::RELU, {x}, "y", {1, 4}));
  EXPECT_THAT(Text(b), HasSubstr("%x: Tensor[(1, 4), float32]"));
  const auto pinned = [&](const char* pin) {
    return Text(b, {.pins = {frontend::ParseInputPin(pin).value()}});
  };
  EXPECT_THAT(pinned("x:8x4"), HasSubstr("%x: Tensor[(8, 4), float32]"));
  EXPECT_THAT(pinned("x:8x5"), HasSubstr("input 'x': --input: found 5 as dimension 1, wanted 4"));
  EXPECT_THAT(pinned("x:8"), HasSubstr("found rank 1, wanted 2"));
  EXPECT_THAT(pinned("x:8x4:int8"), HasSubstr("found int8, wanted float32"));
  EXPECT_THAT(pinned("z:8x4"), HasSubstr("the model has no input 'z'; its inputs are x"));
}

TEST(ImportTflite, TellsAllUnsupportedOperatorsAtOnce) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 4}), q = b.Input("q", {2}, Type::INT8);
  b.Quantize(q, {0.5}, {0});
  b.Output(b.Op(BuiltinOperator::TOPK_V2, {x, b.Ints({1})}, "top", {1, 1}));
  b.Output(b.Op(BuiltinOperator::CUSTOM, {x, -1}, "mfcc", {1, 1}));
  b.model.operator_codes.back()->custom_code = "Mfcc";
  const int exp = b.Op(BuiltinOperator::EXP, {q}, "exp", {2}, Type::INT8);
  b.Quantize(exp, {0.25}, {0});
  b.Output(exp);
  const int u = b.Input("u", {1, 2}, Type::UINT8);
  b.Quantize(u, {0.5}, {128});
  const int norm = b.Op(BuiltinOperator::L2_NORMALIZATION, {u}, "norm", {1, 2}, Type::UINT8);
  b.Quantize(norm, {1.0F / 128}, {128});
  b.Output(norm);
  const std::string text = Text(b);
  EXPECT_THAT(text, HasSubstr("m.tflite: operator TOPK_V2 is not supported (node 'top', inputs "
                              "Tensor[(1, 4), float32], Tensor[(1,), int32])"));
  EXPECT_THAT(text,
              HasSubstr("m.tflite: operator CUSTOM Mfcc is not supported (node 'mfcc', inputs "
                        "Tensor[(1, 4), float32], none)"));
  EXPECT_THAT(text, HasSubstr("m.tflite: operator EXP is not supported on quantized tensors"));
  EXPECT_THAT(text, HasSubstr("L2_NORMALIZATION is not supported on quantized tensors of uint8"));
}

// Pads a row of two at the start, optionally with a constant.
ModelBuilder QuantisedPad(float scale, float fill_scale = 0) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 2}, Type::INT8);
  std::vector<int> inputs = {x, b.Constant<int32_t>({2, 2}, Type::INT32, {0, 0, 1, 0})};
  if (fill_scale > 0) {
    inputs.push_back(b.Constant<int8_t>({1}, Type::INT8, {3}));
    b.Quantize(inputs.back(), {fill_scale}, {-7});
  }
  const int y = b.Op(fill_scale > 0 ? BuiltinOperator::PADV2 : BuiltinOperator::PAD, inputs, "y",
                     {1, 3}, Type::INT8);
  b.Quantize(x, {0.5}, {-5});
  b.Quantize(y, {scale}, {-7});
  b.Output(y);
  return b;
}

// TFLite Micro pads with the zero point of the result, and checks only the scale of the constant.
TEST(ImportTflite, PadsQuantisedTensorsOfAnyScale) {
  const absl::StatusOr<Graph> graph = Import(QuantisedPad(0.25));
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Value& fill = graph->value(graph->node(0).inputs[1]);
  ASSERT_EQ(fill.kind, ValueKind::kConstant);
  EXPECT_EQ(fill.constant.AsInt(0), -7);  // the number that represents 0
  EXPECT_TRUE(Import(QuantisedPad(0.25, 0.25)).ok());
  EXPECT_THAT(Text(QuantisedPad(0.25, 0.5)), HasSubstr("a fill of another scale"));
}

ModelBuilder QuantisedMaxPool(float scale) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 2, 2, 1}, Type::INT8);
  schema::Pool2DOptionsT options;
  options.filter_height = options.filter_width = options.stride_h = options.stride_w = 2;
  const int y = b.Op(BuiltinOperator::MAX_POOL_2D, {x}, "y", {1, 1, 1, 1}, options, Type::INT8);
  b.Quantize(x, {0.5}, {-7});
  b.Quantize(y, {scale}, {-7});
  b.Output(y);
  return b;
}

TEST(ImportTflite, ScalesThatDifferByRoundingAreOne) {
  EXPECT_TRUE(Import(QuantisedMaxPool(0.5000005F)).ok());
  EXPECT_THAT(Text(QuantisedMaxPool(0.50001F)), HasSubstr("scales or zero points differ"));
}

// An accumulator: reads its state, adds to it, and writes it.
ModelBuilder Accumulator(const std::vector<float>& initial) {
  ModelBuilder b;
  const int x = b.Input("x", {2});
  schema::CallOnceOptionsT once;
  once.init_subgraph_index = 1;
  b.AddOperator(BuiltinOperator::CALL_ONCE, {}, {}, once);
  schema::VarHandleOptionsT options;
  options.shared_name = "sum";
  const int handle = b.Op(BuiltinOperator::VAR_HANDLE, {}, "handle", {}, options, Type::RESOURCE);
  const int before = b.Op(BuiltinOperator::READ_VARIABLE, {handle}, "before", {2});
  schema::AddOptionsT add;
  const int after = b.Op(BuiltinOperator::ADD, {before, x}, "after", {2}, add);
  b.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {handle, after}, {});
  b.Output(b.Op(BuiltinOperator::READ_VARIABLE, {handle}, "y", {2}));
  b.AddSubgraph();
  const int same = b.Op(BuiltinOperator::VAR_HANDLE, {}, "handle", {}, options, Type::RESOURCE);
  b.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {same, b.Floats({2}, initial)}, {});
  return b;
}

TEST(ImportTflite, VariablesAreInputsAndOutputs) {
  const absl::StatusOr<Graph> graph = Import(Accumulator({3, 3}));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(InputNames(*graph), ElementsAre("x", "sum"));
  EXPECT_THAT(graph->output_names, ElementsAre("y", "sum.next"));
  EXPECT_EQ(graph->outputs[0], graph->outputs[1]);
  EXPECT_THAT(PrintRelay(*graph), HasSubstr("state_inputs=[\"sum\"]"));
  EXPECT_THAT(graph->attrs.Floats("state_initial"), ElementsAre(3));
}

TEST(ImportTflite, AVariableHoldsOneNumberAtFirst) {
  EXPECT_THAT(Text(Accumulator({1, 2})),
              HasSubstr("the variable 'sum' holds different numbers at first"));
}

TEST(ImportTflite, AVariableThatNoRunWritesIsAConstant) {
  ModelBuilder b = Accumulator({1, 2});
  auto& operators = b.model.subgraphs[0]->operators;
  operators.erase(operators.begin() + 4);  // ASSIGN_VARIABLE
  const absl::StatusOr<Graph> graph = Import(b);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(InputNames(*graph), ElementsAre("x"));
  EXPECT_THAT(graph->output_names, ElementsAre("y"));
}

TEST(ImportTflite, SvdfKeepsItsSteps) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 2}), state = b.Add("steps", {1, 6});
  b.tensor(state).is_variable = true;
  schema::SVDFOptionsT options;
  options.rank = 1;
  const int w = b.Floats({2, 2}, {1, 0, 0, 1}), t = b.Floats({2, 3}, {1, 1, 1, 1, 1, 1});
  b.Output(b.Op(BuiltinOperator::SVDF, {x, w, t, -1, state}, "y", {1, 2}, options));
  const absl::StatusOr<Graph> graph = Import(b);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(InputNames(*graph), ElementsAre("x", "steps"));
  EXPECT_THAT(graph->output_names, ElementsAre("y", "steps.next"));
  EXPECT_EQ(graph->type(graph->outputs[1]).shape, (Shape{1, 6}));
}

TEST(ImportTflite, IfWithAKnownConditionIsOneBranch) {
  for (const bool is_true : {true, false}) {
    ModelBuilder b;
    const int x = b.Input("x", {2});
    const int condition = b.Constant<uint8_t>({}, Type::BOOL, {static_cast<uint8_t>(is_true)});
    schema::IfOptionsT options;
    options.then_subgraph_index = 1;
    options.else_subgraph_index = 2;
    b.Output(b.Op(BuiltinOperator::IF, {condition, x}, "y", {2}, options));
    for (BuiltinOperator code : {BuiltinOperator::TANH, BuiltinOperator::ABS}) {
      b.AddSubgraph();
      const int inner = b.Input("inner", {2});
      b.Output(b.Op(code, {inner}, "result", {2}));
    }
    EXPECT_THAT(Text(b), HasSubstr(is_true ? "tanh(%x)" : "abs(%x)"));
  }
}

// Squares x until the counter reaches `turns`.
ModelBuilder Loop(int turns) {
  ModelBuilder b;
  const int x = b.Input("x", {2}), zero = b.Constant<int32_t>({}, Type::INT32, {0});
  schema::WhileOptionsT options;
  options.cond_subgraph_index = 1;
  options.body_subgraph_index = 2;
  const int count = b.Add("count", {}, Type::INT32), y = b.Add("y", {2});
  b.AddOperator(BuiltinOperator::WHILE, {zero, x}, {count, y}, options);
  b.Output(y);
  b.AddSubgraph();
  int i = b.Input("i", {}, Type::INT32);
  b.Input("v", {2});
  const int end = b.Constant<int32_t>({}, Type::INT32, {turns});
  b.Output(b.Op(BuiltinOperator::LESS, {i, end}, "go", {}, Type::BOOL));
  b.AddSubgraph();
  i = b.Input("i", {}, Type::INT32);
  const int v = b.Input("v", {2}), one = b.Constant<int32_t>({}, Type::INT32, {1});
  schema::AddOptionsT add;
  b.Output(b.Op(BuiltinOperator::ADD, {i, one}, "next", {}, add, Type::INT32));
  b.Output(b.Op(BuiltinOperator::SQUARE, {v}, "squared", {2}));
  return b;
}

TEST(ImportTflite, WhileWithAKnownNumberOfTurnsIsUnrolled) {
  const absl::StatusOr<Graph> graph = Import(Loop(3));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes.size(), 3u);
}

TEST(ImportTflite, EndlessCallsAreErrors) {
  ModelBuilder deep;
  schema::IfOptionsT options;
  deep.Output(deep.Op(BuiltinOperator::IF, {deep.Constant<uint8_t>({}, Type::BOOL, {1})}, "y", {},
                      options));
  EXPECT_THAT(Text(deep), HasSubstr("nested more than 32 deep"));
}

TEST(ImportTflite, EndlessLoopsAreErrors) {
  ModelBuilder b;
  const int go = b.Constant<uint8_t>({}, Type::BOOL, {1}), y = b.Add("y", {}, Type::BOOL);
  schema::WhileOptionsT options;
  options.cond_subgraph_index = options.body_subgraph_index = 1;
  b.AddOperator(BuiltinOperator::WHILE, {go}, {y}, options);
  b.Output(y);
  b.AddSubgraph();
  b.Output(b.Input("go", {}, Type::BOOL));
  EXPECT_THAT(Text(b), HasSubstr("come to more than 200000 operators"));
}

// The file may declare any shape. No memory of that size may be allocated by the import.
TEST(ImportTflite, LargeStateTakesNoMemory) {
  ModelBuilder b;
  const int state = b.Add("state", {1 << 15, 1 << 15});
  b.tensor(state).is_variable = true;
  b.Output(b.Op(BuiltinOperator::RELU, {state}, "y", {1 << 15, 1 << 15}));
  const absl::StatusOr<Graph> graph = Import(b);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(InputNames(*graph), ElementsAre("state"));
  EXPECT_EQ(graph->nodes.size(), 1u);
}

TEST(ImportTflite, SaysWhatIsWrong) {
  ModelBuilder none;
  EXPECT_THAT(Text(none), HasSubstr("m.tflite: the model has no outputs"));

  ModelBuilder index;
  index.Output(7);
  EXPECT_THAT(Text(index), HasSubstr("found tensor 7, there are 0 tensors"));

  ModelBuilder bytes;
  const int c = bytes.Floats({3}, {1, 2});
  bytes.Output(c);
  EXPECT_THAT(Text(bytes), HasSubstr("found 8 bytes for Tensor[(3,), float32], wanted 12"));

  ModelBuilder order;
  order.Output(order.Add("y", {1}));
  EXPECT_THAT(Text(order), HasSubstr("tensor 'y' is made by no operator before it"));

  ModelBuilder sign;
  schema::AddOptionsT options;
  options.fused_activation_function = schema::Activation::SIGN_BIT;
  const int x = sign.Input("x", {1});
  sign.Output(sign.Op(BuiltinOperator::ADD, {x, x}, "y", {1}, options));
  EXPECT_THAT(Text(sign), HasSubstr("m.tflite: node 'y' (ADD): the fused activation SIGN_BIT"));

  ModelBuilder dynamic;
  const int a = dynamic.Input("a", {4}), s = dynamic.Input("s", {1}, Type::INT32);
  dynamic.Output(dynamic.Op(BuiltinOperator::BROADCAST_TO, {a, s}, "y", {4}));
  EXPECT_THAT(Text(dynamic),
              HasSubstr("the shape (input 's') is computed from the model's inputs"));

  ModelBuilder densify;
  densify.Output(densify.Op(BuiltinOperator::DENSIFY, {densify.Input("d", {4})}, "y", {4}));
  EXPECT_THAT(Text(densify),
              HasSubstr("node 'y' (DENSIFY): the sparse tensor (input 'd') is computed"));

  ModelBuilder text;
  text.Output(text.Input("t", {1}, Type::STRING));
  EXPECT_THAT(Text(text), HasSubstr("tensor 't' holds STRING"));

  ModelBuilder version;
  version.model.version = 2;
  EXPECT_THAT(Text(version), HasSubstr("version of the schema: found 2, wanted 3"));

  const absl::Status cut =
      ImportTflite(std::string(24, '\0'), "m.tflite", {}, EvaluateConstants).status();
  EXPECT_THAT(std::string(cut.message()), HasSubstr("found no whole TFLite model"));
}

}  // namespace
}  // namespace kiln::tflite_frontend
