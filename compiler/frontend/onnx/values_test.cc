// SPDX-License-Identifier: Apache-2.0
// Models without inputs, whose values the importer computes, beside values from elsewhere.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/compile.h"
#include "compiler/frontend/onnx/import.h"
#include "google/protobuf/text_format.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {
namespace {

struct Given {
  const char* name;
  std::vector<int64_t> shape;
  std::vector<double> values;
  int elem_type = onnx::TensorProto::FLOAT;
};

struct ModelCase {
  std::string node;  // without inputs' values; its output is 'y'
  std::vector<Given> inputs;
  std::vector<double> expected;
  int opset = 18;
};

absl::StatusOr<std::vector<double>> ValuesOf(const ModelCase& test) {
  onnx::ModelProto model;
  const std::string text = absl::StrCat(
      "ir_version: 8 opset_import { version: ", test.opset,
      " } opset_import { domain: 'com.microsoft' version: 1 } graph { name: 'g' node {", test.node,
      "} output { name: 'y' } }");
  if (!google::protobuf::TextFormat::ParseFromString(text, &model)) {
    return absl::InvalidArgumentError(text);
  }
  for (const Given& given : test.inputs) {
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(given.name);
    tensor.set_data_type(given.elem_type);
    for (int64_t extent : given.shape) tensor.add_dims(extent);
    for (double value : given.values) {
      if (given.elem_type == onnx::TensorProto::INT64) {
        tensor.add_int64_data(static_cast<int64_t>(value));
      } else if (given.elem_type == onnx::TensorProto::INT32) {
        tensor.add_int32_data(static_cast<int32_t>(value));
      } else {
        tensor.add_float_data(static_cast<float>(value));
      }
    }
  }
  const absl::StatusOr<Graph> graph =
      ImportOnnx(model.SerializeAsString(), "m.onnx", {}, EvaluateConstants);
  if (!graph.ok()) return graph.status();
  const Value& value = graph->value(graph->outputs[0]);
  if (value.kind != ValueKind::kConstant) return absl::InternalError("no constant");
  std::vector<double> values;
  for (int64_t i = 0; i < value.constant.type().num_elements(); ++i) {
    values.push_back(value.constant.AsDouble(i));
  }
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

std::string Attr(const char* name, const char* value) {
  return absl::StrCat(" attribute { name: '", name, "' type: STRING s: '", value, "' }");
}

TEST(OnnxValues, OfPads) {
  const Given x = {"x", {3}, {1, 2, 3}}, image = {"x", {2, 3}, {1, 2, 3, 4, 5, 6}};
  const std::string pad = "op_type: 'Pad' input: 'x' input: 'p' output: 'y'",
                    along = "op_type: 'Pad' input: 'x' input: 'p' input: '' input: 'a' output: 'y'";
  ExpectValues({
      {pad, {x, Ints("p", {-1, 2})}, {2, 3, 0, 0}},
      {pad + Attr("mode", "edge"), {x, Ints("p", {1, -2})}, {1, 1}},
      {pad + Attr("mode", "reflect"), {x, Ints("p", {-1, 1})}, {2, 3, 2}},
      {pad + Attr("mode", "wrap"), {x, Ints("p", {2, 4})}, {2, 3, 1, 2, 3, 1, 2, 3, 1}, 19},
      {pad + Attr("mode", "wrap"), {x, Ints("p", {-1, 3})}, {2, 3, 2, 3, 2}, 19},
      {along, {image, Ints("p", {1, 0}), Ints("a", {-1})}, {0, 1, 2, 3, 0, 4, 5, 6}},
      {along, {image, Ints("p", {0, -1, 1, 0}), Ints("a", {0, 1})}, {2, 3, 5, 6, 0, 0}},
  });
}

TEST(OnnxValues, RefusesPadsThatLeaveLessThanNothing) {
  const absl::StatusOr<std::vector<double>> found =
      ValuesOf({"op_type: 'Pad' input: 'x' input: 'p' output: 'y'",
                {{"x", {3}, {1, 2, 3}}, Ints("p", {-2, -2})},
                {}});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument) << found.status();
}

// By the formula of ONNX: at half the extent a neighbour at distance d counts 1 - d / 2.
TEST(OnnxValues, OfAntialiasedResize) {
  const std::string resize =
      "op_type: 'Resize' input: 'x' input: '' input: 's' output: 'y' attribute { name: 'antialias' "
      "type: INT i: 1 } attribute { name: 'mode' type: STRING s: 'linear' }";
  ExpectValues({
      // Places 0.5 and 2.5; weights 1/8, 3/8, 3/8, 1/8 of places -1 to 2 and 1 to 4.
      {resize, {{"x", {4}, {0, 8, 16, 64}}, {"s", {1}, {0.5}}}, {5, 39}},
      {resize + " attribute { name: 'exclude_outside' type: INT i: 1 }",
       {{"x", {4}, {0, 7, 14, 56}}, {"s", {1}, {0.5}}},
       {5, 31}},
  });
}

TEST(OnnxValues, OfRegionsSampledPerPlace) {
  ExpectValues({
      {"op_type: 'RoiAlign' input: 'x' input: 'r' input: 'i' output: 'y' attribute { name: "
       "'sampling_ratio' type: INT i: 0 } attribute { name: 'coordinate_transformation_mode' type: "
       "STRING s: 'output_half_pixel' }",
       {{"x", {1, 1, 4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
        {"r", {1, 4}, {0, 0, 3, 2.5}},
        Ints("i", {0})},
       {6.5}},
  });
}

// One head, keys (1), (0): the weights of the softmax are e / (1 + e) and 1 / (1 + e).
TEST(OnnxValues, OfMultiHeadAttention) {
  const std::string node =
      "op_type: 'MultiHeadAttention' domain: 'com.microsoft' output: 'y' attribute { name: "
      "'num_heads' type: INT i: 1 } input: 'q' input: 'k' input: 'v'";
  const Given q = {"q", {1, 1, 1}, {1}}, k = {"k", {1, 2, 1}, {1, 0}}, v = {"v", {1, 2, 1}, {3, 5}};
  const double first = 0.731058578630005;
  ExpectValues({
      {node, {q, k, v}, {3 * first + 5 * (1 - first)}},
      // Key lengths, and a mask.
      {node + " input: '' input: 'm'", {q, k, v, {"m", {1}, {1}, onnx::TensorProto::INT32}}, {3}},
      {node + " input: '' input: 'm'",
       {q, k, v, {"m", {1, 2}, {0, 1}, onnx::TensorProto::INT32}},
       {5}},
      // A bias of query, key and value: (0 + 2) * 1 and values 13, 15.
      {node + " input: 'b'",
       {{"q", {1, 1, 1}, {0}}, k, v, {"b", {3}, {1, 0, 10}}},
       {13 * first + 15 * (1 - first)}},
      // Keys and values of before come first.
      {node + " input: '' input: '' input: '' input: 'pk' input: 'pv'",
       {q,
        {"k", {1, 1, 1}, {0}},
        {"v", {1, 1, 1}, {5}},
        {"pk", {1, 1, 1, 1}, {1}},
        {"pv", {1, 1, 1, 1}, {3}}},
       {3 * first + 5 * (1 - first)}},
  });
}

TEST(OnnxValues, OfMicrosoftLayerNormalization) {
  ExpectValues({
      {"op_type: 'LayerNormalization' domain: 'com.microsoft' input: 'x' input: 'g' input: 'b' "
       "output: 'y' attribute { name: 'epsilon' type: FLOAT f: 0 }",
       {{"x", {1, 2}, {1, 3}}, {"g", {2}, {2, 2}}, {"b", {2}, {10, 20}}},
       {8, 22}},
  });
}

}  // namespace
}  // namespace kiln::onnx_frontend
