// SPDX-License-Identifier: Apache-2.0
// Error messages for invalid or unsupported models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/frontend/onnx/model_text.h"
#include "google/protobuf/text_format.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ImportOnnx, RefusesKnownIndicesThatAreOutside) {
  const std::string x = Input("x", "2,3");
  const std::string at = "dims: 1 dims: 2 ";
  const auto indices = [&](const char* dims, int64_t a, int64_t b) {
    return absl::StrCat("initializer { name: 'i' data_type: 7 ", dims, " int64_data: ", a,
                        " int64_data: ", b, " }\n");
  };
  const auto node = [](const char* op) {
    return absl::StrCat("node { op_type: '", op, "' input: 'x' input: 'i' output: 'y' }");
  };
  const char* const elements = "found 2, wanted -2 to 1";
  EXPECT_THAT(Text(Model(x + indices("dims: 2", 0, 2) + node("Gather"))), HasSubstr(elements));
  EXPECT_THAT(Text(Model(x + indices(at.c_str(), 0, 2) + node("GatherElements"))),
              HasSubstr(elements));
  const char* const places = "found -4, wanted -3 to 2";
  EXPECT_THAT(Text(Model(x + indices(at.c_str(), 1, -4) + node("GatherND"))), HasSubstr(places));
  EXPECT_THAT(Text(Model(x + indices(at.c_str(), 1, -3) + node("GatherND"))),
              HasSubstr("gather_nd("));
  const auto scatter = [&](const char* op, int64_t last, const char* updates) {
    return Text(Model(x + Input("u", updates) + indices(at.c_str(), 1, last) + "node { op_type: '" +
                      op + "' input: 'x' input: 'i' input: 'u' output: 'y' }"));
  };
  EXPECT_THAT(scatter("ScatterElements", 2, "1,2"), HasSubstr(elements));
  EXPECT_THAT(scatter("ScatterElements", -2, "1,2"), HasSubstr("scatter_elements("));
  EXPECT_THAT(scatter("ScatterND", -4, "1"), HasSubstr(places));
  EXPECT_THAT(scatter("ScatterND", -3, "1"), HasSubstr("scatter_nd("));
}

TEST(ImportOnnx, SaysWhatIsWrong) {
  const std::string x = Input("x", "1,4");
  const auto node = [](const char* op, const char* rest) {
    return absl::StrCat("node { op_type: '", op, "' name: 'n' output: 'y' ", rest, " }");
  };
  const std::pair<std::string, const char*> cases[] = {
      {Model(x + node("Relu", "input: 'z'")),
       "m.onnx: node 'n' (Relu): input 'z' is made by no node"},
      {Model(x + node("Relu", "input: 'y'")),
       "m.onnx: the inputs of node 'n' depend on outputs of the same: a circle"},
      {Model(x + node("Relu", "")),
       "m.onnx: node 'n' (Relu): nn.relu: found 0 inputs, wanted 1 input (data)"},
      {Model(x + node("Conv", "input: 'x' input: 'x'")), "node 'n' (Conv): weight: found"},
      {Model(x + node("Relu", "input: 'x'") + "node { op_type: 'Exp' input: 'x' output: 'y' }"),
       "output 'y' is defined twice"},
      {Model(x + node("Exp", "input: 'x'"), 27),
       "operator set version: found 27 of ai.onnx, wanted 1 to 26"},
      {Model(x + node("Exp", "input: 'x'"), 13, "opset_import { domain: 'ai.onnx.ml' version: 6 }"),
       "operator set version: found 6 of ai.onnx.ml, wanted 1 to 5"},
      {Model(x + node("Exp", "input: 'x'"), 13, "opset_import { domain: 'own' version: -1 }"),
       "operator set version: found -1 of own, wanted 1 or more"},
      {Model(x + node("Exp", "input: 'x'"), 13, "opset_import { domain: 'ai.onnx' version: 14 }"),
       "opset_import: found versions 13 and 14 of ai.onnx, wanted one version: ONNX does not "
       "permit "
       "two of one domain"},
      {Model(x + node("Relu", "output: 'z' output: 'u' input: 'x'")),
       "node 'n' (Relu): outputs: found 3, wanted at most 1, as Relu of operator set 13 has"},
      {Model(x + node("Softmax",
                      "input: 'x' attribute { name: 'axis' type: INT i: 1 } attribute { name: "
                      "'axis' type: INT i: 0 }")),
       "node 'n' (Softmax): attribute 'axis': found it twice, wanted it once"},
      {Model("initializer { name: 'w' data_type: 1 dims: 1 raw_data: 'abcd' float_data: 1 }" +
             node("Relu", "input: 'w'")),
       "initializer 'w': tensor 'w': found elements in raw_data and float_data, wanted one of "
       "them"},
      {Model("initializer { name: 'w' data_type: 7 dims: 1 int32_data: 1 int64_data: 1 }" +
             node("Relu", "input: 'w'")),
       "found elements in int32_data and int64_data"},
      {Model(x +
             "node { op_type: 'DynamicQuantizeLinear' input: 'x' output: 'q' output: 's' output: "
             "'z' } initializer { name: 'w' data_type: 3 dims: 4 dims: 2 raw_data: 'abcdefgh' } "
             "initializer { name: 'wz' data_type: 3 dims: 3 int32_data: [1, 1, 1] } " +
             node("MatMulInteger", "input: 'q' input: 'w' input: 'z' input: 'wz'")),
       "zero points: found Tensor[(3,), int8], wanted 1 or 2"},
      {Model(x +
             "node { op_type: 'DynamicQuantizeLinear' input: 'x' output: 'q' output: 's' output: "
             "'z' } initializer { name: 'w' data_type: 3 dims: 4 dims: 2 raw_data: 'abcdefgh' } " +
             node("MatMulInteger", "input: 'q' input: 'w' input: 'z' input: 'z'")),
       "zero point: found uint8, wanted int8, as the data"},
      {Model(x), "no node makes the output 'y'"},
      {Model(x + Input("", "1,4") + node("Relu", "input: 'x'")), "m.onnx: an input has no name"},
      {Model(x + node("Dropout", "input: 'x' input: '' input: 't'") +
             "initializer { name: 't' data_type: 9 int32_data: 1 }"),
       "training_mode = 1: export the model for inference; in PyTorch, call module.eval() before "
       "the "
       "export"},
      {Model(x + node("TopK", "input: 'x' attribute { name: 'k' type: INT i: 5 }"), 9),
       "topk: constraint 4: found k 5, wanted at most 4"},
      {Model(x + node("GlobalAveragePool", "input: 'x'")), "wanted rank 3 or more"},
      {Model(x + node("Det", "input: 'x'")), "wanted square matrices"},
      {Model(x + node("Resize", "input: 'x'")), "scales and sizes: found 0 and 0"},
      {Model("initializer { name: 'w' data_type: 1 dims: 4 float_data: 1 }" +
             node("Relu", "input: 'w'")),
       "initializer 'w'"},
      {Model("initializer { name: 'w' data_type: 1 dims: 1 data_location: EXTERNAL external_data { "
             "key: 'location' value: '../secret' } }" +
             node("Relu", "input: 'w'")),
       "initializer 'w': external data: '../secret' is not inside the model's folder"},
      {Model("initializer { name: 'w' data_type: 1 dims: 1 data_location: EXTERNAL external_data { "
             "key: 'location' value: 'none' } }" +
             node("Relu", "input: 'w'")),
       "'none': no such file in the model's folder"},
      {Model(x + node("LeakyRelu", "input: 'x' attribute { name: 'alpha' type: INT i: 3 }")),
       "node 'n' (LeakyRelu): attribute alpha: found INT, wanted FLOAT"},
      {Model(x + node("Concat", "input: 'x' input: 'x'")),
       "node 'n' (Concat): attribute axis: found none, wanted one"},
      {Model(x + x + node("Relu", "input: 'x'")), "input 'x' is defined twice"},
      {Model("initializer { name: 'w' data_type: 1 dims: 1 float_data: 1 }"
             "initializer { name: 'w' data_type: 1 dims: 1 float_data: 2 }" +
             node("Relu", "input: 'w'")),
       "initializer 'w' is defined twice"},
      {Model(x + node("Relu", "input: 'x'") +
             "output { name: 'y' type { tensor_type { elem_type: 7 } } }"),
       "output 'y': the dtype: found float32, wanted int64 as it is declared"},
      {"", "found no Relay text, no TFLite model and no whole ONNX model"},
      {"\x08", "found no Relay text, no TFLite model and no whole ONNX model"},
  };
  for (const auto& [model, message] : cases) EXPECT_THAT(Text(model), HasSubstr(message));
}

TEST(ImportOnnx, RefusesInputsThatAreNoTensors) {
  const auto model = [](const std::string& type) {
    return Model("input { name: 'x' " + type +
                 " } node { op_type: 'Relu' input: 'x' output: 'y' }");
  };
  const std::string tensor = "type { tensor_type { elem_type: 1 } }";
  EXPECT_EQ(Text(model("type { sequence_type { elem_" + tensor + " } }")),
            "m.onnx: input 'x': is a sequence, not a tensor");
  EXPECT_EQ(Text(model("type { optional_type { elem_" + tensor + " } }")),
            "m.onnx: input 'x': is an optional, not a tensor");
  EXPECT_EQ(Text(model("")), "m.onnx: input 'x': not a tensor");
  EXPECT_EQ(Text(model(tensor)),
            "m.onnx: input 'x': has no shape; give one with --input x:1x3x224x224");
}

// Returns the bytes of a model that computes a Relu of x, of shape (2, 1, 3), and declares its
// output as `type`.
std::string Declared(absl::string_view type) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(
      Model(Input("x", "2,1,3") + "node { op_type: 'Relu' input: 'x' output: 'y' }")));
  EXPECT_TRUE(google::protobuf::TextFormat::MergeFromString(
      std::string(type), model.mutable_graph()->mutable_output(0)));
  return model.SerializeAsString();
}

// Returns a model of a Relu of an input with the declared dimensions `dims`.
std::string OfDimensions(absl::string_view dims, int64_t ir_version = 8) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(
      Model(absl::StrCat("input { name: 'x' type { tensor_type { elem_type: 1 shape { ", dims,
                         " } } } } node { op_type: 'Relu' input: 'x' output: 'y' }"))));
  model.set_ir_version(ir_version);
  return model.SerializeAsString();
}

TEST(ImportOnnx, RefusesNegativeDimensionsButThatOfOpenOnes) {
  EXPECT_EQ(
      Text(OfDimensions("dim { dim_value: 2 } dim { dim_value: -2 }")),
      "m.onnx: input 'x': dimension 1: found -2, wanted an extent, a symbol, or -1 if it is open");
  EXPECT_THAT(Text(OfDimensions("dim { dim_value: -1 }")), HasSubstr("dimension 0 is dynamic"));
  EXPECT_EQ(
      Text(Declared("type { tensor_type { elem_type: 1 shape { dim { dim_value: -2 } dim { } dim "
                    "{ } } } }")),
      "m.onnx: output 'y': dimension 0: found -2, wanted an extent, a symbol, or -1 if it is "
      "open");
}

TEST(ImportOnnx, KnowsVersionsOfTheFileFormat) {
  for (const int64_t version : {1, 3, 13, 16}) {
    EXPECT_THAT(Text(OfDimensions("dim { dim_value: 2 }", version)), HasSubstr("nn.relu(%x)"));
  }
  for (const int64_t version : {-1, 0, 17, 999}) {
    EXPECT_EQ(Text(OfDimensions("dim { dim_value: 2 }", version)),
              absl::StrCat("m.onnx: ir_version: found ", version,
                           ", wanted 1 to 16, versions of ONNX's file format"));
  }
}

TEST(ImportOnnx, NumbersOutputsThatAreOneTensor) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(
      Model(Input("x", "2") + "node { op_type: 'Relu' input: 'x' output: 'y' }")));
  *model.mutable_graph()->add_output() = model.graph().output(0);
  EXPECT_THAT(Text(model.SerializeAsString()), HasSubstr("output_tensor_names=[\"y\", \"y_2\"]"));
}

TEST(ImportOnnx, AnOutputKeepsItsNameIfAnotherOneIsNumbered) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Model(Input("x", "2") +
                                          "node { op_type: 'Relu' input: 'x' output: 'y' } "
                                          "node { op_type: 'Neg' input: 'x' output: 'y_2' }")));
  *model.mutable_graph()->add_output() = model.graph().output(0);
  *model.mutable_graph()->add_output() = model.graph().output(0);
  model.mutable_graph()->mutable_output(2)->set_name("y_2");
  EXPECT_THAT(Text(model.SerializeAsString()),
              HasSubstr("output_tensor_names=[\"y\", \"y_3\", \"y_2\"]"));
}

TEST(ImportOnnx, WeightsOfNoPossibleSizeAreNotCounted) {
  const std::string bytes =
      Model(Input("x", "2") +
            "initializer { name: 'w' data_type: 3 dims: 1099511627776 dims: 1099511627776 } "
            "initializer { name: 's' data_type: 1 float_data: 1 } "
            "node { op_type: 'DequantizeLinear' input: 'w' input: 's' output: 'y' }");
  EXPECT_TRUE(ModelFile::Parse(bytes, "m.onnx")->narrow_weights().empty());
  EXPECT_NE(Text(bytes), "");
}

TEST(ImportOnnx, RefusesWhatNoModelHas) {
  const std::string x = Input("x", "2"), relu = "node { op_type: 'Relu' input: 'x' output: 'y' }";
  EXPECT_EQ(Text(Model(x + relu + "sparse_initializer { values { name: 'w' data_type: 1 } }")),
            "m.onnx: initializer 'w' is a sparse tensor");
  const std::string own = "opset_import { domain: 'own' version: 1 } ",
                    function =
                        "functions { name: 'F' domain: 'own' input: 'a' output: 'r' node { "
                        "op_type: 'Relu' input: 'a' output: 'r' } opset_import { version: "
                        "13 } } ";
  EXPECT_EQ(Text(Model(x + relu, 13, own + function + function)),
            "m.onnx: function 'F' of domain 'own' is defined twice; overloads are not supported");
  EXPECT_EQ(
      Text(Model(x + Node("F", "x,x", "domain: 'own'"), 13, own + function)),
      "m.onnx: node 'n' (F): call of a function: found 2 inputs and 1 outputs, wanted at most "
      "1 and 1");
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Model(x + relu)));
  model.mutable_graph()->clear_output();
  EXPECT_EQ(Text(model.SerializeAsString()), "m.onnx: the model has no outputs");
}

TEST(ImportOnnx, TellsAllUnsupportedOperatorsAtOnce) {
  const std::string text = Text(
      Model(Input("x", "1,4") +
            "node { op_type: 'StringNormalizer' name: 'a' input: 'x' output: 'b' }"
            "node { op_type: 'Relu' input: 'b' output: 'c' }"
            "node { op_type: 'Inverse' domain: 'com.example' name: 'd' input: 'c' output: 'y' }"));
  EXPECT_THAT(text, HasSubstr("operator StringNormalizer is not supported (node 'a')"));
  EXPECT_THAT(text, HasSubstr("operator com.example.Inverse is not supported (node 'd')"));
}

// Returns the text of the error for a model with this operator, starting after its inputs.
std::string AdviceInError(absl::string_view op, absl::string_view domain) {
  const std::string imports =
      domain.empty() ? "" : absl::StrCat("opset_import { domain: '", domain, "' version: 1 }");
  const std::string text = Text(
      Model(Input("x", "4") + Node(op, "x", absl::StrCat("domain: '", domain, "'")), 13, imports));
  const std::string begin = "inputs Tensor[(4,), float32]";
  const size_t at = text.find(begin);
  EXPECT_NE(at, std::string::npos) << text;
  return at == std::string::npos ? text : text.substr(at + begin.size());
}

// The advice names the tool that produced the model only if it is known.
TEST(ImportOnnx, AdvisesOnOperatorsThatItLacks) {
  const char* const strings =
      "; turn strings into numbers, such as token ids or indices of categories, before the model";
  const char* const quantizer =
      "; ONNX Runtime's quantizer of weights writes it; MatMulNBitsQuantizer with quant_format="
      "QuantFormat.QDQ writes DequantizeLinear instead, which Kiln compiles, as float32 weights";
  const char* const language_model =
      "; ONNX Runtime's builder and optimizer of language models write it; export the model from "
      "its framework (torch.onnx.export), with a cache of fixed length";
  const struct {
    const char* domain;
    const char* op;
    std::string advice;
  } rows[] = {
      {"", "StringNormalizer", strings},
      {"", "TfIdfVectorizer", strings},
      {"", "TensorScatter", ""},
      {"ai.onnx.contrib", "BpeTokenizer",
       absl::StrCat("; operators of onnxruntime-extensions are not compiled", strings)},
      {"com.microsoft", "Tokenizer", strings},
      {"com.microsoft", "MatMulNBits", quantizer},
      {"com.microsoft", "GroupQueryAttention", language_model},
      {"com.microsoft", "RotaryEmbedding", language_model},
      {"com.microsoft", "QLinearConv",
       "; ONNX Runtime writes it for channels that are last; save the model with "
       "graph_optimization_level ORT_ENABLE_EXTENDED or lower"},
      {"com.microsoft", "NhwcConv",
       "; if an optimization of ONNX Runtime made it, save the model without, or with "
       "graph_optimization_level ORT_ENABLE_BASIC"},
      {"com.example", "Own", "; the model may define it as a function of its own"},
  };
  for (const auto& row : rows) EXPECT_EQ(AdviceInError(row.op, row.domain), row.advice) << row.op;
}

TEST(ImportOnnx, AdvisesOnInputsThatAreStrings) {
  EXPECT_EQ(Text(Model("input { name: 'city' type { tensor_type { elem_type: 8 shape { dim { "
                       "dim_value: 1 } } } } } node { op_type: 'Identity' input: 'city' output: "
                       "'y' }")),
            "m.onnx: input 'city': data type STRING is not supported; turn strings into numbers, "
            "such as token ids or indices of categories, before the model");
}

TEST(ImportOnnx, NamesTheOperatorThatWasMeant) {
  EXPECT_EQ(Text(Model(Input("x", "1,4") +
                       "node { op_type: 'SoftMaxx' name: 'n' input: 'x' output: 'y' }")),
            "m.onnx: operator SoftMaxx is not supported, perhaps 'Softmax' (node 'n'); inputs "
            "Tensor[(1, 4), float32]");
}

TEST(ImportOnnx, RefusesAttributesThatTheOperatorHasNot) {
  EXPECT_EQ(Text(Model(Input("x", "2,3") +
                       "node { op_type: 'Softmax' name: 'n' input: 'x' output: 'y' attribute { "
                       "name: 'axes' type: INT i: 0 } }")),
            "m.onnx: node 'n' (Softmax): attribute 'axes' is unknown, perhaps 'axis': Softmax of "
            "operator set 13 has axis");
}

// Returns the notes of an import.
std::vector<std::string> NotesOf(const std::string& bytes) {
  std::vector<std::string> notes;
  const absl::StatusOr<ModelFile> file = ModelFile::Parse(bytes, "m.onnx");
  EXPECT_TRUE(file.ok()) << file.status();
  if (!file.ok()) return notes;
  EXPECT_TRUE(file->Import({}, EvaluateConstants, &notes).ok());
  return notes;
}

TEST(ImportOnnx, NotesADeclaredShapeThatContradictsTheOperators) {
  const std::string of_rank_1 =
      "type { tensor_type { elem_type: 1 shape { dim { dim_param: 'n' } } } }";
  EXPECT_THAT(
      NotesOf(Declared(TensorType("2,4,3"))),
      ElementsAre("m.onnx: output 'y' has the shape (2, 1, 3); the file declares (2, 4, 3)"));
  EXPECT_THAT(NotesOf(Declared(of_rank_1)),
              ElementsAre("m.onnx: output 'y' has the shape (2, 1, 3); the file declares (?,)"));
  EXPECT_THAT(NotesOf(Declared("type { tensor_type { elem_type: 1 shape { } } }")),
              ElementsAre("m.onnx: output 'y' has the shape (2, 1, 3); the file declares ()"));
  EXPECT_THAT(NotesOf(Declared("type { tensor_type { elem_type: 1 shape { dim { dim_param: 'n' } "
                               "dim { } dim { dim_value: 3 } } } }")),
              IsEmpty());
  EXPECT_THAT(NotesOf(Declared("type { tensor_type { elem_type: 1 } }")), IsEmpty());
  // The graph has the shape that follows from the operators.
  EXPECT_THAT(Text(Declared(TensorType("2,4,3"))), HasSubstr("Tensor[(2, 1, 3), float32]"));
}

TEST(ImportOnnx, NotesNormalizationByTheStatisticsOfTheBatch) {
  const auto model = [](int mode, int more) {
    std::string nodes = Input("x", "2,3") + Input("s", "3");
    std::string x = "x";
    for (int i = 0; i <= more; ++i) {
      const std::string y = i < more ? absl::StrCat("y", i) : "y";
      absl::StrAppend(&nodes, "node { op_type: 'BatchNormalization' name: 'bn", i, "' input: '", x,
                      "' input: 's' input: 's' input: 's' input: 's' output: '", y,
                      "' attribute { name: 'training_mode' type: INT i: ", mode, " } }");
      x = y;
    }
    return Model(nodes, 15);
  };
  EXPECT_THAT(NotesOf(model(0, 1)), IsEmpty());
  EXPECT_THAT(NotesOf(model(1, 0)),
              ElementsAre("m.onnx: node 'bn0' (BatchNormalization): training_mode = 1: normalizes "
                          "by the mean and variance of each batch; in PyTorch, call module.eval() "
                          "before the export"));
  EXPECT_THAT(NotesOf(model(1, 2)),
              ElementsAre(HasSubstr("node 'bn0' (BatchNormalization) and 2 more: training_mode")));
}

// Returns the bytes of a model with one node. It imports only version 3 of ai.onnx.ml.
std::string MachineLearningModel(absl::string_view node) {
  onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat("ir_version: 8 opset_import { domain: 'ai.onnx.ml' version: 3 } graph { name: "
                   "'g' ",
                   Input("x", "2,3"), "node { name: 'n' input: 'x' output: 'y' ", node,
                   " } output { name: 'y' } }"),
      &model));
  return model.SerializeAsString();
}

TEST(ImportOnnx, NamesTheOperatorsOfModelsWithoutTheOwnDomain) {
  EXPECT_EQ(Text(MachineLearningModel("op_type: 'CastMap' domain: 'ai.onnx.ml'")),
            "m.onnx: operator ai.onnx.ml.CastMap is not supported (node 'n'); inputs Tensor[(2, "
            "3), float32]; operators of strings and maps are not compiled: turn strings into "
            "numbers, such as token ids or indices of categories, before the model");
  EXPECT_EQ(Text(MachineLearningModel("op_type: 'Relu'")),
            "m.onnx: opset_import: found the domain ai.onnx.ml only, wanted a version of ai.onnx "
            "too, which the operator Relu is of");
}

}  // namespace
}  // namespace kiln::onnx_frontend
