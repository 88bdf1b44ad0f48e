// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/model_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/graph/relay_text.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

std::string TensorType(absl::string_view shape) {
  std::string dims;
  for (absl::string_view extent : absl::StrSplit(shape, ',', absl::SkipEmpty())) {
    absl::StrAppend(&dims, "dim { dim_value: ", extent, " } ");
  }
  return absl::StrCat("type { tensor_type { elem_type: 1 shape { ", dims, "} } } ");
}

std::string Input(absl::string_view name, absl::string_view shape) {
  return absl::StrCat("input { name: '", name, "' ", TensorType(shape), "}\n");
}

std::string Ints(absl::string_view name, const std::vector<int64_t>& values) {
  std::string text =
      absl::StrCat("initializer { name: '", name, "' data_type: 7 dims: ", values.size(), " ");
  for (int64_t value : values) absl::StrAppend(&text, "int64_data: ", value, " ");
  return text + "}\n";
}

std::string Floats(absl::string_view name, absl::string_view dims,
                   const std::vector<float>& values) {
  std::string text = absl::StrCat("initializer { name: '", name, "' data_type: 1 ", dims, " ");
  for (float value : values) absl::StrAppend(&text, "float_data: ", value, " ");
  return text + "}\n";
}

std::string Attr(absl::string_view name, int64_t value) {
  return absl::StrCat("attribute { name: '", name, "' type: INT i: ", value, " } ");
}

std::string Attr(absl::string_view name, absl::string_view value) {
  return absl::StrCat("attribute { name: '", name, "' type: STRING s: '", value, "' } ");
}

std::string Attr(absl::string_view name, const std::vector<int64_t>& values) {
  return absl::StrCat("attribute { name: '", name, "' type: INTS ints: [",
                      absl::StrJoin(values, ", "), "] } ");
}

std::string Node(absl::string_view op, absl::string_view inputs, absl::string_view rest) {
  std::string text = absl::StrCat("node { op_type: '", op, "' name: 'n' output: 'y' ", rest, " ");
  for (absl::string_view input : absl::StrSplit(inputs, ',')) {
    absl::StrAppend(&text, "input: '", input, "' ");
  }
  return text + "}\n";
}

std::string Model(absl::string_view graph, int opset, absl::string_view rest) {
  onnx::ModelProto model;
  const std::string text =
      absl::StrCat("ir_version: 8 opset_import { version: ", opset, " } ", rest,
                   " graph { name: 'g'\n", graph, "output { name: 'y' } }");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &model)) << text;
  return model.SerializeAsString();
}

absl::StatusOr<Graph> Import(const std::string& bytes, const std::vector<InputPin>& pins) {
  return ImportOnnx(bytes, "m.onnx", {.pins = pins}, EvaluateConstants);
}

std::string Text(const std::string& bytes, const std::vector<InputPin>& pins) {
  const absl::StatusOr<Graph> graph = Import(bytes, pins);
  return graph.ok() ? PrintRelay(*graph) : std::string(graph.status().message());
}

void ExpectRefusals(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    EXPECT_THAT(Text(refusal.model), testing::HasSubstr(refusal.text));
  }
}

std::vector<double> Values(const std::string& bytes) {
  const absl::StatusOr<Graph> graph = Import(bytes, {});
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  const Value& value = graph->value(graph->outputs[0]);
  EXPECT_EQ(value.kind, ValueKind::kConstant);
  std::vector<double> values;
  for (int64_t i = 0; i < value.constant.type().num_elements(); ++i) {
    values.push_back(value.constant.AsDouble(i));
  }
  return values;
}

}  // namespace kiln::onnx_frontend
