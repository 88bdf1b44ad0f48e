// SPDX-License-Identifier: Apache-2.0
// Models without inputs, whose values are computed, beside values from elsewhere.
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
      } else if (given.elem_type == onnx::TensorProto::FLOAT) {
        tensor.add_float_data(static_cast<float>(value));
      } else {
        tensor.add_int32_data(static_cast<int32_t>(value));
      }
    }
  }
  const absl::StatusOr<Graph> graph =
      ImportOnnx(model.SerializeAsString(), "m.onnx", {}, EvaluateConstants);
  if (!graph.ok()) return graph.status();
  // What is dequantised stays for the passes.
  const absl::StatusOr<std::vector<Tensor>> outputs = EvaluateConstants(*graph);
  if (!outputs.ok()) return outputs.status();
  std::vector<double> values;
  for (int64_t i = 0; i < outputs->front().type().num_elements(); ++i) {
    values.push_back(outputs->front().AsDouble(i));
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

TEST(OnnxValues, AtTheEndsOfWhatIsDefined) {
  const auto of = [](const char* op, const char* inputs) {
    return absl::StrCat("op_type: '", op, "' output: 'y' ", inputs);
  };
  const Given ints = {"x", {4}, {1, 2, 3, 9}, onnx::TensorProto::INT32};
  ExpectValues({
      {of("LpNormalization", "input: 'x'"), {{"x", {2, 2}, {0, 0, 3, 4}}}, {0, 0, 0.6, 0.8}},
      // Indices out of range choose nothing.
      {of("OneHot", "input: 'i' input: 'd' input: 'v'"),
       {Ints("i", {-1, -4, 3}), Ints("d", {3}), {"v", {2}, {5, 7}}},
       {5, 5, 7, 5, 5, 5, 5, 5, 5}},
      {of("Clip", "input: 'x' input: 'a' input: 'b'"),
       {{"x", {3}, {1, 4, 9}}, {"a", {}, {6}}, {"b", {}, {5}}},
       {5, 5, 5}},
      {of("Pow", "input: 'x' input: 'e'"), {ints, {"e", {}, {0.5}}}, {1, 1, 1, 3}},
      {of("Shrink", "input: 'x'") + Attr("bias", 1.5) + Attr("lambd", 2.5),
       {{"x", {4}, {-5, -2, 2, 5}, onnx::TensorProto::INT8}},
       {-3, 0, 0, 3}},
      // The place behind in opset 10, the nearest from then on.
      {of("Resize", "input: 'x' input: 's'"),
       {{"x", {1, 1, 1, 4}, {1, 2, 3, 4}}, {"s", {4}, {1, 1, 1, 0.6}}},
       {1, 3},
       10},
      {of("DequantizeLinear", "input: 'x' input: 's'"),
       {Bytes("x", {2}, {3, 4}), {"s", {}, {0x3800}, onnx::TensorProto::FLOAT16}},
       {1.5, 2},
       19},
  });
}

// Scales of blocks: the last block of an axis may be smaller.
TEST(OnnxValues, OfScalesOfBlocks) {
  const std::string dequantize = "op_type: 'DequantizeLinear' input: 'x' input: 's' output: 'y' ",
                    quantize = "op_type: 'QuantizeLinear' input: 'x' input: 's' output: 'y' ";
  const Given of_rows = {"s", {2, 2}, {0.5, 1, 2, 4}}, of_row = {"s", {1, 2}, {0.5, 1}};
  const std::string rows = Attr("axis", 0) + Attr("block_size", 2),
                    columns = Attr("axis", -1) + Attr("block_size", 2);
  const std::string zero = "input: 'z'";
  const Given x = Bytes("x", {3, 2}, {1, 2, 3, 4, 5, 6}), row = {"x", {1, 3}, {1, -3, 2.5}};
  ExpectValues({
      {dequantize + rows, {x, of_rows}, {0.5, 2, 1.5, 4, 10, 24}, 21},
      {dequantize + zero + rows,
       {x, of_rows, Bytes("z", {2, 2}, {1, 0, 2, 3})},
       {0, 2, 1, 4, 6, 12},
       21},
      {quantize + zero + columns, {row, of_row, Bytes("z", {1, 2}, {10, 100})}, {12, 4, 102}, 21},
      {quantize + columns, {row, of_row}, {2, 0, 2}, 21},
  });
  const absl::StatusOr<std::vector<double>> found =
      ValuesOf({dequantize + rows, {x, of_row}, {}, 21});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument) << found.status();
}

TEST(OnnxValues, OfMicrosoftQuantisedOperators) {
  const auto node = [](const char* op, const std::vector<std::string>& inputs) {
    return absl::StrCat("op_type: '", op, "' domain: 'com.microsoft' output: 'y' input: '",
                        absl::StrJoin(inputs, "' input: '"), "'");
  };
  const auto scale = [](const char* name, double value) { return Given{name, {}, {value}}; };
  const auto zero = [](const char* name, double value) { return Bytes(name, {}, {value}); };
  ExpectValues({
      {node("QLinearSoftmax", {"x", "xs", "xz", "ys", "yz"}) + Attr("opset", 13),
       {Bytes("x", {1, 2}, {9, 9}), scale("xs", 2), zero("xz", 3), scale("ys", 0.25),
        zero("yz", 1)},
       {3, 3}},
      // Before opset 13 over all axes from the given one on.
      {node("QLinearSoftmax", {"x", "xs", "xz", "ys", "yz"}) + Attr("opset", 12) + Attr("axis", 0),
       {Bytes("x", {2, 2}, {9, 9, 9, 9}), scale("xs", 2), zero("xz", 3), scale("ys", 0.25),
        zero("yz", 1)},
       {2, 2, 2, 2}},
      {node("QLinearWhere", {"c", "a", "as", "az", "b", "bs", "bz", "ys", "yz"}),
       {{"c", {2}, {1, 0}, onnx::TensorProto::BOOL},
        Bytes("a", {2}, {10, 20}),
        scale("as", 0.5),
        zero("az", 0),
        Bytes("b", {2}, {30, 60}),
        scale("bs", 0.25),
        zero("bz", 20),
        scale("ys", 0.5),
        zero("yz", 1)},
       {11, 21}},
      {node("MatMulIntegerToFloat", {"a", "b", "as", "bs", "az", "bz", "bias"}),
       {Bytes("a", {1, 2}, {1, 2}),
        Bytes("b", {2, 1}, {3, 4}),
        scale("as", 0.5),
        scale("bs", 0.25),
        zero("az", 1),
        zero("bz", 1),
        {"bias", {1}, {1}}},
       {1.375}},
      {node("DynamicQuantizeMatMul", {"a", "b", "bs"}),
       {{"a", {1, 2}, {0, 255}}, Bytes("b", {2, 1}, {2, 3}), scale("bs", 0.5)},
       {382.5}},
      {node("FusedGemm", {"a", "b"}) + Attr("alpha", 2.0) + Attr("activation", "LeakyRelu") +
           Attr("activation_alpha", 0.5),
       {{"a", {1, 2}, {1, -2}}, {"b", {2, 1}, {1, 2}}},
       {-3}},
  });
}

}  // namespace
}  // namespace kiln::onnx_frontend
