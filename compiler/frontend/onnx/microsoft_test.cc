// SPDX-License-Identifier: Apache-2.0
// Values of operators of the domain com.microsoft.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx/values_of.h"

namespace kiln::onnx_frontend {
namespace {

// One head with the keys 1 and 0. The weights of the softmax are e / (1 + e) and 1 / (1 + e).
TEST(OnnxValues, OfMultiHeadAttention) {
  const std::string node =
      "op_type: 'MultiHeadAttention' domain: 'com.microsoft' output: 'y' attribute { name: "
      "'num_heads' type: INT i: 1 } input: 'q' input: 'k' input: 'v'";
  const Given q = {"q", {1, 1, 1}, {1}}, k = {"k", {1, 2, 1}, {1, 0}}, v = {"v", {1, 2, 1}, {3, 5}};
  const double first = 0.731058578630005;
  ExpectValues({
      {node, {q, k, v}, {3 * first + 5 * (1 - first)}},
      // Key lengths, then a mask.
      {node + " input: '' input: 'm'", {q, k, v, {"m", {1}, {1}, onnx::TensorProto::INT32}}, {3}},
      {node + " input: '' input: 'm'",
       {q, k, v, {"m", {1, 2}, {0, 1}, onnx::TensorProto::INT32}},
       {5}},
      // A bias of query, key and value: (0 + 2) * 1 and the values 13, 15.
      {node + " input: 'b'",
       {{"q", {1, 1, 1}, {0}}, k, v, {"b", {3}, {1, 0, 10}}},
       {13 * first + 15 * (1 - first)}},
      // Past keys and values come first.
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
      // Before opset 13, over all axes from the given one on.
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
      // Queries of 0: the result is the mean of the values 1 and 3, plus the bias.
      {node("QAttention", {"x", "w", "b", "xs", "ws", "", "xz", "wz"}) + Attr("num_heads", 1),
       {Bytes("x", {1, 2, 1}, {11, 13}),
        Bytes("w", {1, 3}, {5, 5, 7}),
        {"b", {3}, {0, 0, 3}},
        scale("xs", 1),
        scale("ws", 0.5),
        zero("xz", 10),
        zero("wz", 5)},
       {5, 5}},
      // All gates are 1/2: h = tanh(tanh(1) / 2) / 2.
      {node("DynamicQuantizeLSTM", {"x", "w", "r", "", "", "", "", "", "ws", "wz", "rs", "rz"}),
       {{"x", {1, 1, 1}, {1}},
        Bytes("w", {1, 1, 4}, {1, 1, 1, 3}),
        Bytes("r", {1, 1, 4}, {1, 2, 3, 4}),
        {"ws", {1}, {0.5}},
        Bytes("wz", {1}, {1}),
        {"rs", {1, 4}, {1, 2, 3, 4}},
        Bytes("rz", {1, 4}, {1, 2, 3, 4})},
       {0.18169974}},
      {node("QEmbedLayerNormalization", {"i", "", "w", "p", "", "g", "b", "", "ws", "ps", "", "gs",
                                         "bs", "wz", "pz", "", "gz", "bz"}) +
           Attr("epsilon", 0.0),
       {{"i", {1, 1}, {1}, onnx::TensorProto::INT32},
        Bytes("w", {2, 2}, {0, 0, 12, 16}),
        Bytes("p", {1, 2}, {7, 7}),
        Bytes("g", {2}, {5, 5}),
        Bytes("b", {2}, {10, 20}),
        scale("ws", 0.5),
        scale("ps", 3),
        scale("gs", 0.5),
        scale("bs", 1),
        zero("wz", 10),
        zero("pz", 7),
        zero("gz", 1),
        zero("bz", 0)},
       {8, 22}},
      {node("FusedGemm", {"a", "b"}) + Attr("alpha", 2.0) + Attr("activation", "LeakyRelu") +
           Attr("activation_alpha", 0.5),
       {{"a", {1, 2}, {1, -2}}, {"b", {2, 1}, {1, 2}}},
       {-3}},
  });
}

}  // namespace
}  // namespace kiln::onnx_frontend
