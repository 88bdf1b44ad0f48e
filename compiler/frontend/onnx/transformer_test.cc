// SPDX-License-Identifier: Apache-2.0
// Additions in operator sets 23 to 26, and bfloat16 numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/values_of.h"

namespace kiln::onnx_frontend {
namespace {

using testing::HasSubstr;

std::string Node(const char* op, const char* inputs, const std::string& attributes = "") {
  return absl::StrCat("op_type: '", op, "' output: 'y' input: ", inputs, attributes);
}

// The keys are 1 and 0. The weights of the softmax are e / (1 + e) and 1 / (1 + e).
TEST(OnnxValues, OfAttention) {
  const std::string qkv = "'q' input: 'k' input: 'v'";
  const std::string masked = qkv + " input: 'm'";
  const std::string past = qkv + " input: '' input: 'pk' input: 'pv'";
  const Given q = {"q", {1, 1, 1, 1}, {1}}, k = {"k", {1, 1, 2, 1}, {1, 0}},
              v = {"v", {1, 1, 2, 1}, {3, 5}};
  const auto mean = [](double score) {
    const double first = std::exp(score) / (1 + std::exp(score));
    return 3 * first + 5 * (1 - first);
  };
  const std::string heads = Attr("q_num_heads", 1) + Attr("kv_num_heads", 1);
  ExpectValues({
      {Node("Attention", qkv.c_str()), {q, k, v}, {mean(1)}, 23},
      {Node("Attention", qkv.c_str(), Attr("scale", 2.0)), {q, k, v}, {mean(2)}, 23},
      {Node("Attention", qkv.c_str(), Attr("softcap", 0.5)),
       {q, k, v},
       {mean(0.5 * std::tanh(2))},
       23},
      {Node("Attention", qkv.c_str(), heads),
       {{"q", {1, 1, 1}, {1}}, {"k", {1, 2, 1}, {1, 0}}, {"v", {1, 2, 1}, {3, 5}}},
       {mean(1)},
       23},
      // Two query heads share one key head.
      {Node("Attention", qkv.c_str()), {{"q", {1, 2, 1, 1}, {1, 0}}, k, v}, {mean(1), 4}, 24},
      {Node("Attention", masked.c_str()),
       {q, k, v, {"m", {1, 2}, {0, 1}, onnx::TensorProto::BOOL}},
       {5},
       23},
      {Node("Attention", masked.c_str()), {q, k, v, {"m", {1, 2}, {1, 0}}}, {mean(2)}, 25},
      {Node("Attention", qkv.c_str(), Attr("is_causal", 1)),
       {{"q", {1, 1, 2, 1}, {1, 1}}, k, v},
       {3, mean(1)},
       23},
      // Past keys and values come first.
      {Node("Attention", past.c_str(), Attr("is_causal", 1)),
       {q,
        {"k", {1, 1, 1, 1}, {0}},
        {"v", {1, 1, 1, 1}, {5}},
        {"pk", {1, 1, 1, 1}, {1}},
        {"pv", {1, 1, 1, 1}, {3}}},
       {mean(1)},
       23},
  });
}

TEST(OnnxValues, OfRotaryEmbedding) {
  const char* const inputs = "'x' input: 'c' input: 's'";
  const Given x = {"x", {1, 1, 1, 4}, {1, 2, 3, 4}}, c = {"c", {1, 1, 2}, {0, 1}},
              s = {"s", {1, 1, 2}, {1, 0}};
  ExpectValues({
      {Node("RotaryEmbedding", inputs), {x, c, s}, {-3, 2, 1, 4}, 23},
      {Node("RotaryEmbedding", inputs, Attr("interleaved", 1)), {x, c, s}, {-2, 1, 3, 4}, 23},
      {Node("RotaryEmbedding", inputs, Attr("num_heads", 1)),
       {{"x", {1, 1, 4}, {1, 2, 3, 4}}, c, s},
       {-3, 2, 1, 4},
       23},
      // Rotates a part of each head, at the positions in an input.
      {Node("RotaryEmbedding", "'x' input: 'c' input: 's' input: 'i'",
            Attr("rotary_embedding_dim", 2)),
       {x,
        {"c", {2, 1}, {1, 0}},
        {"s", {2, 1}, {0, 1}},
        {"i", {1, 1}, {1}, onnx::TensorProto::INT64}},
       {-2, 1, 3, 4},
       23},
  });
}

TEST(OnnxValues, OfYoungOperators) {
  const Given x = {"x", {3}, {2, 3, 4}}, axis = {"a", {}, {0}, onnx::TensorProto::INT64};
  const char* const inputs = "'x' input: 'a'";
  ExpectValues({
      {Node("Swish", "'x'"), {{"x", {1}, {1}}}, {0.73105858}, 24},
      {Node("Swish", "'x'", Attr("alpha", 2.0)), {{"x", {1}, {1}}}, {0.88079708}, 24},
      {Node("CumProd", inputs), {x, axis}, {2, 6, 24}, 26},
      {Node("CumProd", inputs, Attr("exclusive", 1)), {x, axis}, {1, 2, 6}, 26},
      {Node("CumProd", inputs, Attr("reverse", 1)), {x, axis}, {24, 12, 4}, 26},
  });
}

// 1.5 and -2 as the upper halves of their float32 bits.
TEST(OnnxValues, OfBFloat16AreFloat32) {
  const Given x = {"x", {2}, {0x3fc0, 0xc000}, onnx::TensorProto::BFLOAT16};
  ExpectValues(
      {{Node("Identity", "'x'"), {x}, {1.5, -2}, 23},
       {Node("Cast", "'x'", Attr("to", onnx::TensorProto::BFLOAT16)), {x}, {1.5, -2}, 23}});
}

TEST(OnnxValues, OfAttentionThatIsRefused) {
  const Given q = {"q", {1, 1, 1, 1}, {1}}, k = {"k", {1, 1, 2, 1}, {1, 0}},
              v = {"v", {1, 1, 2, 1}, {3, 5}};
  const char* const qkv = "'q' input: 'k' input: 'v'";
  const struct {
    std::string node;
    std::vector<Given> inputs;
    std::string text;
  } rows[] = {
      {Node("Attention", qkv, Attr("left_window_size", 4)), {q, k, v}, "windows of positions"},
      {Node("Attention", qkv) + " output: '' output: '' output: 'scores'",
       {q, k, v},
       "the output qk_matmul_output"},
      {Node("Attention", qkv),
       {{"q", {1, 1, 4}, {1, 1, 1, 1}}, k, v},
       "a multiple of q_num_heads = 0"},
      {Node("Attention", qkv),
       {q, {"k", {1, 1, 1, 1}, {1}}, v},
       "wanted the batch of the query, as many positions"},
      {Node("Attention", qkv),
       {{"q", {1, 3, 1, 1}, {1, 1, 1}}, {"k", {1, 2, 1, 1}, {1, 1}}, {"v", {1, 2, 1, 1}, {1, 1}}},
       "heads: found 3 of queries, 2 of keys and values"},
      {Node("RotaryEmbedding", qkv), {q, k, v}, "rotary_embedding_dim: found 1"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ValuesOf({row.node, row.inputs, {}, 25}).status().message(), HasSubstr(row.text))
        << row.node;
  }
}

}  // namespace
}  // namespace kiln::onnx_frontend
