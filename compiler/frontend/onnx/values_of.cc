// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/values_of.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/onnx/import.h"
#include "google/protobuf/text_format.h"

namespace kiln::onnx_frontend {

namespace {

onnx::TensorProto ProtoOf(const Given& given) {
  onnx::TensorProto tensor;
  tensor.set_name(given.name);
  tensor.set_data_type(given.elem_type);
  for (int64_t extent : given.shape) tensor.add_dims(extent);
  for (double value : given.values) {
    if (given.elem_type == onnx::TensorProto::INT64) {
      tensor.add_int64_data(static_cast<int64_t>(value));
    } else if (given.elem_type == onnx::TensorProto::FLOAT) {
      tensor.add_float_data(static_cast<float>(value));
    } else {
      tensor.add_int32_data(static_cast<int32_t>(value));
    }
  }
  return tensor;
}

void AddInput(const Given& given, onnx::GraphProto& graph) {
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(given.name);
  onnx::TypeProto::Tensor& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(given.elem_type);
  type.mutable_shape();
  for (int64_t extent : given.shape) type.mutable_shape()->add_dim()->set_dim_value(extent);
}

// Replaces the inputs of the graph by constants.
absl::Status GiveInputs(const std::vector<Given>& inputs, Graph& graph) {
  for (ValueId id : graph.inputs) {
    Value& value = graph.value(id);
    for (const Given& given : inputs) {
      if (given.name != value.name) continue;
      KILN_ASSIGN_OR_RETURN(value.constant, ParseOnnxTensor(ProtoOf(given).SerializeAsString()));
      value.kind = ValueKind::kConstant;
    }
  }
  graph.inputs.clear();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> TensorOf(const ModelCase& test) {
  onnx::ModelProto model;
  const std::string text = absl::StrCat(
      "ir_version: 8 opset_import { version: ", test.opset,
      " } opset_import { domain: 'com.microsoft' version: 1 } opset_import { domain: 'ai.onnx.ml' "
      "version: 5 } graph { name: 'g' node {",
      test.node, "} output { name: 'y' } }");
  if (!google::protobuf::TextFormat::ParseFromString(text, &model)) {
    return absl::InvalidArgumentError(text);
  }
  for (const Given& given : test.inputs) {
    if (test.at_run_time) {
      AddInput(given, *model.mutable_graph());
    } else {
      *model.mutable_graph()->add_initializer() = ProtoOf(given);
    }
  }
  for (const Given& given : test.initializers) {
    *model.mutable_graph()->add_initializer() = ProtoOf(given);
  }
  KILN_ASSIGN_OR_RETURN(Graph graph,
                        ImportOnnx(model.SerializeAsString(), "m.onnx", {}, EvaluateConstants));
  KILN_RETURN_IF_ERROR(GiveInputs(test.inputs, graph));
  // The importer leaves dequantized values to the passes, so they are computed here.
  KILN_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, EvaluateAllConstants(graph));
  return std::move(outputs.front());
}

absl::StatusOr<std::vector<double>> ValuesOf(const ModelCase& test) {
  KILN_ASSIGN_OR_RETURN(const Tensor y, TensorOf(test));
  std::vector<double> values;
  for (int64_t i = 0; i < y.type().num_elements(); ++i) values.push_back(y.AsDouble(i));
  return values;
}

void ExpectValues(const std::vector<ModelCase>& cases) {
  for (const ModelCase& test : cases) {
    const absl::StatusOr<std::vector<double>> found = ValuesOf(test);
    ASSERT_TRUE(found.ok()) << test.node << ": " << found.status();
    ASSERT_EQ(found->size(), test.expected.size()) << test.node;
    for (size_t i = 0; i < found->size(); ++i) {
      EXPECT_NEAR((*found)[i], test.expected[i], 1e-5)
          << test.node << ": " << absl::StrJoin(*found, " ");
    }
  }
}

Given Ints(const char* name, const std::vector<double>& values) {
  return {name, {static_cast<int64_t>(values.size())}, values, onnx::TensorProto::INT64};
}

Given Bytes(const char* name, const std::vector<int64_t>& shape,
            const std::vector<double>& values) {
  return {name, shape, values, onnx::TensorProto::UINT8};
}

std::string Attr(const char* name, const char* value) {
  return absl::StrCat(" attribute { name: '", name, "' type: STRING s: '", value, "' }");
}
std::string Attr(const char* name, int value) {
  return absl::StrCat(" attribute { name: '", name, "' type: INT i: ", value, " }");
}
std::string Attr(const char* name, double value) {
  return absl::StrCat(" attribute { name: '", name, "' type: FLOAT f: ", value, " }");
}
std::string Attr(const char* name, const std::vector<int>& values) {
  return absl::StrCat(" attribute { name: '", name, "' type: INTS ints: [",
                      absl::StrJoin(values, ", "), "] }");
}
std::string FloatsAttr(const char* name, const std::vector<double>& values) {
  return absl::StrCat(" attribute { name: '", name, "' type: FLOATS floats: [",
                      absl::StrJoin(values, ", "), "] }");
}
std::string StringsAttr(const char* name, const std::vector<std::string>& values) {
  return absl::StrCat(" attribute { name: '", name, "' type: STRINGS strings: ['",
                      absl::StrJoin(values, "', '"), "'] }");
}

std::string MachineLearningNode(const char* op, const std::string& attributes, const char* outputs,
                                const char* inputs) {
  return absl::StrCat("op_type: '", op, "' domain: 'ai.onnx.ml' input: ", inputs,
                      " output: ", outputs, " ", attributes);
}

}  // namespace kiln::onnx_frontend
