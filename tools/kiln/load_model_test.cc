// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/load_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "compiler/frontend/tflite/model_builder.h"
#include "google/protobuf/text_format.h"
#include "onnx/onnx_pb.h"

namespace kiln::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// The sum of inputs 'x' and 'y' of a type of ONNX.
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
  // Exact where a double is not.
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

TEST(LoadModel, FilesOfConstantsAreRead) {
  EXPECT_THAT(FilesOf({.shapes = {"x:2"}, .constants = {"a=1", "b=b.npy", "c=d/e=f.pb"}}),
              ElementsAre("b.npy", "f.pb"));
  EXPECT_THAT(FilesOf({}), IsEmpty());
}

}  // namespace
}  // namespace kiln::tools
