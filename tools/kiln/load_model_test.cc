// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/load_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "compiler/frontend/tflite/model_builder.h"
#include "google/protobuf/text_format.h"
#include "onnx/onnx_pb.h"

namespace kiln::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// Returns a model that adds inputs 'x' and 'y' of an ONNX element type.
std::string Sum(int elem_type) {
  onnx::ModelProto model;
  const std::string type = "type { tensor_type { elem_type: " + std::to_string(elem_type) +
                           " shape { dim { dim_value: 2 } } } }";
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "ir_version: 8 opset_import { version: 14 } graph { name: 'g' node { op_type: 'Add' input: "
      "'x' input: 'y' output: 'z' } input { name: 'x' " +
          type + " } input { name: 'y' " + type + " } output { name: 'z' } }",
      &model));
  return Write("sum.onnx", model.SerializeAsString());
}

std::string Message(const std::string& path, const InputFlags& flags) {
  return std::string(LoadModel(path, flags).status().message());
}

TEST(LoadModel, ConstantsAreNumbersOfTheInputsType) {
  const std::string of_bytes = Sum(onnx::TensorProto::UINT8);
  for (const char* number : {"300", "-1", "1.5", "nan"}) {
    EXPECT_THAT(Message(of_bytes, {.shapes = {}, .constants = {std::string("y=0,") + number}}),
                HasSubstr(std::string("--constant y: found '") + number + "', wanted a number of"))
        << number;
  }
  // Exact, although a double could not represent the number.
  const std::string of_int64 = Sum(onnx::TensorProto::INT64);
  const absl::StatusOr<Graph> graph =
      LoadModel(of_int64, {.shapes = {}, .constants = {"y=9007199254740993,-1"}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->inputs.size(), 1u);
  for (const Value& value : graph->values) {
    if (value.kind != ValueKind::kConstant) continue;
    EXPECT_THAT(value.constant.ToInts(), ElementsAre(9007199254740993, -1));
  }
}

TEST(LoadModel, AnInputIsGivenOnce) {
  const std::string model = Sum(onnx::TensorProto::FLOAT);
  EXPECT_THAT(Message(model, {.shapes = {"x:2", "x:2"}, .constants = {}}),
              HasSubstr("--input: 'x' is given twice"));
  EXPECT_THAT(Message(model, {.shapes = {}, .constants = {"x=1,2", "x=1,2"}}),
              HasSubstr("--constant: 'x' is given twice"));
  EXPECT_THAT(Message(model, {.shapes = {"x:2"}, .constants = {"x=1,2"}}),
              HasSubstr("--input and --constant are both given for 'x'"));
}

TEST(LoadModel, TfliteTakesConstants) {
  tflite_frontend::ModelBuilder b;
  using Type = tflite_frontend::ModelBuilder::Type;
  const int x = b.Input("x", {2}, Type::FLOAT32), y = b.Input("y", {2}, Type::FLOAT32);
  b.Output(b.Op(tflite_schema::BuiltinOperator::ADD, {x, y}, "z", {2}));
  const std::string model = Write("sum.tflite", b.Bytes());
  const absl::StatusOr<Graph> graph = LoadModel(model, {.shapes = {}, .constants = {"y=1,2"}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->inputs.size(), 1u);
  EXPECT_THAT(Message(model, {.shapes = {}, .constants = {"w=1,2"}}),
              HasSubstr("the model has no input 'w'; its inputs are x, y"));
}

std::string FromText(const std::string& graph) {
  onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "ir_version: 8 opset_import { version: 14 } graph { name: 'g' " + graph +
          " output { name: 'z' type { tensor_type { elem_type: 1 } } } }",
      &model));
  return Write("open.onnx", model.SerializeAsString());
}

// Returns the text of a float32 input. Each dimension is a number or a symbol.
std::string OpenInput(const std::string& name, const std::vector<std::string>& dims) {
  std::string text = "input { name: '" + name + "' type { tensor_type { elem_type: 1 shape { ";
  for (const std::string& dim : dims) {
    const bool is_number = dim.find_first_not_of("0123456789") == std::string::npos;
    text += is_number ? "dim { dim_value: " + dim + " } " : "dim { dim_param: '" + dim + "' } ";
  }
  return text + "} } } } ";
}

TEST(LoadModel, OpenLeadingDimensionsAreOne) {
  const std::string model = FromText(OpenInput("x", {"n", "3"}) + OpenInput("y", {"n", "3"}) +
                                     "node { op_type: 'Add' input: 'x' input: 'y' output: 'z' }");
  ::testing::internal::CaptureStderr();
  absl::StatusOr<Graph> graph = LoadModel(model, {});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "kiln: note: " + model +
                ": open leading dimensions are taken as 1; for another: --dim n=8\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->type(graph->inputs[1]).shape, ElementsAre(1, 3));
  // A symbol with a given value has that value everywhere.
  ::testing::internal::CaptureStderr();
  graph = LoadModel(model, {.shapes = {"x:5x3"}, .constants = {}});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->type(graph->inputs[1]).shape, ElementsAre(5, 3));
}

// onnxmltools declares the labels of a batch in this way.
TEST(LoadModel, ADeclaredShapeThatDiffersIsNoted) {
  const std::string model = FromText(
      OpenInput("x", {"n", "3"}) +
      "output { name: 'label' type { tensor_type { elem_type: 7 shape { dim { dim_value: 1 "
      "} } } } } node { op_type: 'Relu' input: 'x' output: 'z' } node { op_type: 'ArgMax' "
      "input: 'x' output: 'label' attribute { name: 'axis' type: INT i: 1 } attribute { "
      "name: 'keepdims' type: INT i: 0 } }");
  ::testing::internal::CaptureStderr();
  const absl::StatusOr<Graph> graph = LoadModel(model, {.shapes = {"x:8x3"}, .constants = {}});
  EXPECT_EQ(
      ::testing::internal::GetCapturedStderr(),
      "kiln: note: " + model + ": output 'label' has the shape (8,); the file declares (1,)\n");
  EXPECT_TRUE(graph.ok()) << graph.status();
}

TEST(LoadModel, ShapesThatAreOfferedCanBeImported) {
  const std::string model = FromText(
      OpenInput("x", {"n", "1", "h", "w"}) + OpenInput("y", {"n", "1", "h", "w"}) +
      "initializer { name: 'k' data_type: 1 dims: 1 dims: 1 dims: 1 dims: 5 float_data: [1, 2, 3, "
      "4, 5] } node { op_type: 'Add' input: 'x' input: 'y' output: 's' } "
      "node { op_type: 'Conv' input: 's' input: 'k' output: 'z' }");
  const std::string message = Message(model, {});
  EXPECT_THAT(message, HasSubstr("input 'x': dimension 0 ('n'), 2 ('h'), 3 ('w') is dynamic"));
  EXPECT_THAT(message, HasSubstr("\n" + model +
                                 ": sizes with which it can be compiled: --dim h=224 --dim n=1 "
                                 "--dim w=224"));
  const InputFlags offered = {.dims = {"h=224", "n=1", "w=224"}};
  EXPECT_TRUE(LoadModel(model, offered).ok());
  // If no size works, none is suggested.
  const std::string impossible =
      FromText(OpenInput("x", {"n", "m"}) + OpenInput("y", {"7", "11"}) +
               "node { op_type: 'MatMul' input: 'x' input: 'y' output: 's' } "
               "node { op_type: 'MatMul' input: 's' input: 'y' output: 'z' }");
  EXPECT_THAT(Message(impossible, {}), Not(HasSubstr("can be compiled")));
}

TEST(LoadModel, SizesOfDimensionsAreNamesAndNumbers) {
  const std::string model =
      FromText(OpenInput("x", {"n", "a=b"}) + "node { op_type: 'Relu' input: 'x' output: 'z' }");
  const absl::StatusOr<Graph> graph = LoadModel(model, {.dims = {"n=2", "a=b=3"}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->type(graph->inputs[0]).shape, ElementsAre(2, 3));
  for (const char* wrong : {"n", "=2", "n=", "n=x", "n=-1", "n=2.5"}) {
    EXPECT_THAT(Message(model, {.dims = {wrong}}),
                HasSubstr(std::string("--dim: found '") + wrong + "', wanted"))
        << wrong;
  }
  EXPECT_THAT(Message(model, {.dims = {"n=2", "n=2"}}), HasSubstr("--dim: 'n' is given twice"));
  EXPECT_THAT(Message(model, {.shapes = {"x:5x3"}, .dims = {"n=2"}}),
              HasSubstr("--dim n=2 and --input x:5x3 contradict each other"));
}

TEST(LoadModel, ModelsEndAtOutputs) {
  const std::string model =
      FromText(OpenInput("x", {"2"}) + OpenInput("mask", {"n"}) +
               "node { op_type: 'Relu' input: 'x' output: 'r' } node { name: 'select' op_type: "
               "'Compress' input: 'r' input: 'mask' output: 'z' }");
  const absl::StatusOr<Graph> graph = LoadModel(model, {.outputs = {"r"}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->inputs.size(), 1u);
  EXPECT_THAT(graph->output_names, ElementsAre("r"));
  EXPECT_THAT(Message(model, {.outputs = {"selct"}}),
              HasSubstr("--outputs: the model has no value and no node 'selct', perhaps 'select'"));
}

TEST(LoadModel, SaysWhereTheModelComesFrom) {
  onnx::ModelProto proto;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "ir_version: 8 opset_import { version: 14 } "
      "metadata_props { key: 'names' value: 'cat, dog' } "
      "metadata_props { key: 'bytes' value: '\\377' } "
      "graph { name: 'g' node { op_type: 'Add' input: 'x' input: 'w' output: 'z' } "
      "initializer { name: 'w' dims: 2 data_type: 1 data_location: EXTERNAL "
      "external_data { key: 'location' value: 'w.bin' } } "
      "input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } "
      "output { name: 'z' } }",
      &proto));
  const std::string model = Write("origin.onnx", proto.SerializeAsString());
  Write("w.bin", std::string(8, '\0'));
  ImportFindings first, again, other_weights, other_shape;
  ASSERT_TRUE(LoadModel(model, {}, &first).ok());
  EXPECT_THAT(first.origin.properties, ElementsAre(Pair("names", "cat, dog")));
  EXPECT_EQ(first.origin.sha256.size(), 64u);
  EXPECT_EQ(first.origin.import_options, "");
  ASSERT_TRUE(LoadModel(model, {}, &again).ok());
  EXPECT_EQ(first.origin.sha256, again.origin.sha256);
  ASSERT_TRUE(LoadModel(model, {.shapes = {"x:2"}, .states = {"x=z"}}, &other_shape).ok());
  EXPECT_EQ(other_shape.origin.import_options, "input=x:(2,)\nstate=x=z\n");
  EXPECT_EQ(first.origin.sha256, other_shape.origin.sha256);
  Write("w.bin", std::string(8, '\1'));
  ASSERT_TRUE(LoadModel(model, {}, &other_weights).ok());
  EXPECT_NE(first.origin.sha256, other_weights.origin.sha256);
}

TEST(LoadModel, FilesOfConstantsAreRead) {
  EXPECT_THAT(FilesOf({.shapes = {"x:2"}, .constants = {"a=1", "b=b.npy", "c=d/e=f.pb"}}),
              ElementsAre("b.npy", "f.pb"));
  EXPECT_THAT(FilesOf({}), IsEmpty());
}

}  // namespace
}  // namespace kiln::tools
