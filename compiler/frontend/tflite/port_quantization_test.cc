// SPDX-License-Identifier: Apache-2.0
// The quantization of inputs and outputs in the graph, and in the header of the compiled model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/graph/relay_text.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "metadata/header.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using ::testing::HasSubstr;
using ::testing::Not;
using Type = ModelBuilder::Type;

absl::StatusOr<Graph> Import(const ModelBuilder& b, const ImportOptions& options = {}) {
  return ImportTflite(b.Bytes(), "m.tflite", options, EvaluateConstants);
}

// Returns the graph as text, or the error.
std::string Text(const ModelBuilder& b, const ImportOptions& options = {}) {
  const absl::StatusOr<Graph> graph = Import(b, options);
  return graph.ok() ? PrintRelay(*graph) : std::string(graph.status().message());
}

// Returns a model that adds x and c. x is int8, c is int8 and fixed, and y is an unquantized float.
ModelBuilder QuantizedPorts() {
  ModelBuilder b;
  const int x = b.Input("x", {1, 4}, Type::INT8), c = b.Input("c", {1, 4}, Type::INT8);
  const int y = b.Input("y", {2});
  b.Quantize(x, {0.1F}, {-3});
  b.Quantize(c, {0.5F}, {4});
  schema::AddOptionsT options;
  const int sum = b.Op(BuiltinOperator::ADD, {x, c}, "sum", {1, 4}, options, Type::INT8);
  b.Quantize(sum, {0.25F}, {7});
  b.Output(sum);
  b.Output(b.Op(BuiltinOperator::RELU, {y}, "positive", {2}));
  return b;
}

TEST(TflitePortQuantization, KeepsTheQuantisationOfInputsAndOutputs) {
  const ModelBuilder b = QuantizedPorts();
  EXPECT_THAT(Text(b), HasSubstr("input_scales=[[0.10000000149011612f], [0.5f], []]"));
  EXPECT_THAT(Text(b), HasSubstr("input_zero_points=[[-3], [4], []]"));
  EXPECT_THAT(Text(b), HasSubstr("output_scales=[[0.25f], []]"));
  EXPECT_THAT(Text(b), HasSubstr("output_zero_points=[[7], []]"));
  const Tensor fixed = Tensor::From<int8_t>({1, 4}, DType::Int(8), std::vector<int8_t>(4));
  EXPECT_THAT(Text(b, {.constants = {{"c", fixed}}}),
              HasSubstr("input_zero_points=[[-3], []], output"));
}

TEST(TflitePortQuantization, HeadersSayHowToQuantise) {
  absl::StatusOr<Graph> graph = Import(QuantizedPorts());
  ASSERT_TRUE(graph.ok()) << graph.status();
  CompileOptions options;
  options.module_name = "m";
  const absl::StatusOr<Compilation> compilation = RunStages(*std::move(graph), options);
  ASSERT_TRUE(compilation.ok()) << compilation.status();
  const absl::StatusOr<std::string> header = ModelHeader(compilation->metadata);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_THAT(*header, HasSubstr("#define TVMGEN_M_INPUT_X_SCALE 0.100000001f"));
  EXPECT_THAT(*header, HasSubstr("#define TVMGEN_M_INPUT_X_ZERO_POINT -3"));
  EXPECT_THAT(*header, HasSubstr("#define TVMGEN_M_OUTPUT_SUM_SCALE 0.25f"));
  EXPECT_THAT(*header, HasSubstr("#define TVMGEN_M_OUTPUT_SUM_ZERO_POINT 7"));
  EXPECT_THAT(*header, Not(HasSubstr("INPUT_Y_SCALE")));
}

TEST(TflitePortQuantization, StateKeepsItsQuantisation) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 2}, Type::INT8), state = b.Add("state", {1, 2}, Type::INT8);
  b.tensor(state).is_variable = true;
  b.Quantize(state, {0.5F}, {3});
  b.Output(b.Op(BuiltinOperator::RESHAPE, {x, b.Ints({2, 1})}, "y", {2, 1}, Type::INT8));
  b.Output(b.Op(BuiltinOperator::RESHAPE, {state, b.Ints({2})}, "z", {2}, Type::INT8));
  EXPECT_THAT(Text(b), HasSubstr("input_scales=[[], [0.5f]], input_zero_points=[[], [3]]"));
  EXPECT_THAT(Text(b), HasSubstr("output_scales=[[], [], [0.5f]]"));
}

TEST(TflitePortQuantization, WrongQuantisationOfInputsAndOutputsIsToldWithTheirNames) {
  for (const bool of_output : {false, true}) {
    ModelBuilder b;
    const int x = b.Input("x", {1}, Type::INT8);
    const int y = b.Op(BuiltinOperator::RESHAPE, {x, b.Ints({1})}, "y", {1}, Type::INT8);
    b.Quantize(of_output ? y : x, {-1.0F}, {0});
    b.Output(y);
    EXPECT_EQ(Text(b), std::string("m.tflite: ") + (of_output ? "output 'y'" : "input 'x'") +
                           ": quantization: found the scale -1, wanted a positive number");
  }
}

TEST(TflitePortQuantization, ScalesOfChannelsAreNotOfTheWholeInput) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 2}, Type::INT8);
  b.Quantize(x, {0.5F, 0.25F}, {0, 0}, 1);
  b.Output(b.Op(BuiltinOperator::RESHAPE, {x, b.Ints({2, 1})}, "y", {2, 1}, Type::INT8));
  EXPECT_THAT(Text(b), Not(HasSubstr("scales")));
}

}  // namespace
}  // namespace kiln::tflite_frontend
