// SPDX-License-Identifier: Apache-2.0
// Random numbers become inputs of the model.
#include <string>
#include <vector>

#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/graph/relay_text.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kInput[] =
    "input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { "
    "dim_value: 3 } } } } } output { name: 'y' type { tensor_type { elem_type: 1 } } } ";

// Returns the Relay text of a model with the input x (2, 3) and the output y, or the error.
std::string Import(const std::string& graph, std::vector<std::string>& notes) {
  onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "ir_version: 8 opset_import { version: 14 } graph { name: 'g' " + (kInput + graph) + "}",
      &model));
  const absl::StatusOr<ModelFile> file = ModelFile::Parse(model.SerializeAsString(), "m.onnx");
  EXPECT_TRUE(file.ok()) << file.status();
  const absl::StatusOr<Graph> imported = file->Import({}, EvaluateConstants, &notes);
  return imported.ok() ? PrintRelay(*imported) : std::string(imported.status().message());
}

TEST(Noise, IsAnInputBehindThoseOfTheFile) {
  std::vector<std::string> notes;
  const std::string text = Import(
      "node { op_type: 'RandomNormalLike' input: 'x' output: 'r' attribute { name: 'mean' type: "
      "FLOAT f: 0.5 } attribute { name: 'scale' type: FLOAT f: 2 } } node { op_type: 'Add' input: "
      "'x' input: 'r' output: 'y' }",
      notes);
  EXPECT_THAT(text, HasSubstr("%x: Tensor[(2, 3), float32], %r_noise: Tensor[(2, 3), float32]"));
  EXPECT_THAT(text, HasSubstr("input_names=[\"x\", \"r.noise\"]"));
  EXPECT_THAT(text, HasSubstr("0.5f)"));
  EXPECT_THAT(notes,
              ElementsAre("m.onnx: node 'r' (RandomNormalLike): its random numbers are the input "
                          "'r.noise', Tensor[(2, 3), float32], of the standard normal "
                          "distribution"));
}

TEST(Noise, HasTheShapeOfTheAttribute) {
  std::vector<std::string> notes;
  const std::string text = Import(
      "node { op_type: 'RandomUniform' output: 'y' attribute { name: 'shape' type: INTS ints: 4 } "
      "attribute { name: 'low' type: FLOAT f: -1 } attribute { name: 'dtype' type: INT i: 1 } }",
      notes);
  EXPECT_THAT(text, HasSubstr("%y_noise: Tensor[(4,), float32]"));
  EXPECT_THAT(text, HasSubstr("multiply(%y_noise, 2f)"));
  EXPECT_THAT(text, HasSubstr("-1f)"));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("of the uniform distribution from 0 to 1")));
}

TEST(Noise, ThatNothingReadsIsNoInput) {
  std::vector<std::string> notes;
  const std::string text = Import(
      "node { op_type: 'RandomNormalLike' input: 'x' output: 'r' } node { op_type: 'Relu' input: "
      "'x' output: 'y' }",
      notes);
  EXPECT_THAT(text, HasSubstr("@main(%x: Tensor[(2, 3), float32], output_tensor_names"));
  EXPECT_THAT(notes, IsEmpty());
}

TEST(Noise, ErrorsSayWhatIsWrong) {
  std::vector<std::string> notes;
  EXPECT_THAT(Import("node { op_type: 'RandomNormal' output: 'y' }", notes),
              HasSubstr("node 'y' (RandomNormal): shape: found nothing, wanted the extents"));
  EXPECT_THAT(Import("node { op_type: 'RandomNormal' output: 'y' attribute { name: 'shape' type: "
                     "INTS ints: -4 } }",
                     notes),
              HasSubstr("node 'y' (RandomNormal): "));
  EXPECT_THAT(Import("node { op_type: 'RandomUniformLike' input: 'x' output: 'y' attribute { name: "
                     "'dtype' type: INT i: 7 } }",
                     notes),
              HasSubstr("dtype: found int64, wanted a float"));
}

}  // namespace
}  // namespace kiln::onnx_frontend
