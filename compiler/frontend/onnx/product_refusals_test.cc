// SPDX-License-Identifier: Apache-2.0
// Refusals of products, convolutions, pools, attention and recurrent operators: operands that do
// not fit, and attributes out of range.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/model_text.h"

namespace kiln::onnx_frontend {
namespace {

using Values = std::vector<int64_t>;

// Returns a model with one operator of com.microsoft.
std::string MicrosoftModel(absl::string_view op, absl::string_view inputs,
                           const std::string& operands, absl::string_view attributes = "") {
  return Model(operands + Node(op, inputs, absl::StrCat("domain: 'com.microsoft' ", attributes)),
               13, "opset_import { domain: 'com.microsoft' version: 1 }");
}

TEST(ProductRefusals, OfMatrices) {
  const auto two = [](const char* op, const char* x, const char* w) {
    return Model(Input("x", x) + Input("w", w) + Node(op, "x,w"));
  };
  ExpectRefusals({
      {two("Gemm", "2,3", "3"),
       "A and B: found Tensor[(2, 3), float32] and Tensor[(3,), float32], wanted two matrices"},
      {two("MatMul", "2,3", ""), "operands: found a scalar, wanted rank 1 or more"},
      {two("MatMul", "2,3", "4,5"),
       "operands: found (2, 3) and (4, 5), wanted inner extents that agree"},
      {two("MatMul", "2,1,3", "4,3,5"),
       "found (2, 1, 3) and (4, 3, 5), wanted batches that broadcast"},
      {Model(Input("x", "4") + Node("Trilu", "x"), 14),
       "(Trilu): data: found Tensor[(4,), float32], wanted matrices"},
      {Model(Input("x", "2,2") + Ints("k", {1, 2}) + Node("Trilu", "x,k"), 14),
       "(Trilu): k: found Tensor[(2,), int64], wanted a scalar"},
      {Model(Input("x", "2,2,2") + Node("EyeLike", "x")),
       "(EyeLike): data: found Tensor[(2, 2, 2), float32], wanted a matrix"},
  });
}

TEST(ProductRefusals, OfConvolutions) {
  const auto conv = [](const std::string& attributes, const char* op = "Conv",
                       const char* data = "1,2,4,4") {
    return Model(Input("x", data) + Input("w", "2,2,3,3") + Node(op, "x,w", attributes));
  };
  const auto transposed = [&](const std::string& attributes) {
    return conv(attributes, "ConvTranspose");
  };
  const auto columns = [](const char* data, const Values& image, const Values& block) {
    return Model(Input("x", data) + Ints("i", image) + Ints("b", block) + Node("Col2Im", "x,i,b"),
                 18);
  };
  ExpectRefusals({
      {conv(Attr("group", 0)), "(Conv): group: found 0, wanted 1 to "},
      {conv(Attr("pads", Values{1})), "pads: found 1 values, wanted 4"},
      {conv(Attr("pads", Values{-1, 0, 0, 0})), "pads: found -1, wanted 0 to 16777216"},
      {conv(Attr("auto_pad", "SAME")),
       "auto_pad: found SAME, wanted NOTSET, VALID, SAME_UPPER or SAME_LOWER"},
      {conv(Attr("kernel_shape", Values{2, 2})), "kernel_shape: found [2, 2], wanted [3, 3]"},
      {conv(Attr("auto_pad", "SAME_UPPER") + Attr("pads", Values{1, 1, 1, 1})),
       "auto_pad and pads: found SAME_UPPER and [1, 1, 1, 1], wanted one of them: ONNX does not "
       "permit both in one node"},
      {transposed(Attr("auto_pad", "VALID") + Attr("pads", Values{0, 0, 1, 0})),
       "auto_pad and pads: found VALID and [0, 0, 1, 0]"},
      {conv(Attr("strides", Values{0, 1})),
       "strides: found [0, 1], wanted 2 numbers from 1 to 16777216"},
      {conv(Attr("strides", Values{int64_t{1} << 40, 1})),
       "strides: found [1099511627776, 1], wanted 2 numbers from 1 to 16777216"},
      {conv(Attr("dilations", Values{1})),
       "dilations: found [1], wanted 2 numbers from 1 to 16777216"},
      {transposed(Attr("output_padding", Values{-1, 0})),
       "output_padding: found [-1, 0], wanted 2 numbers, none negative"},
      {transposed(Attr("output_shape", Values{0, 4})),
       "output_shape: found [0, 4], wanted positive numbers"},
      {transposed(Attr("output_shape", Values{4, 4, 4})),
       "output_shape: found 3 extents, wanted 2"},
      {conv(Attr("auto_pad", "SAME_UPPER"), "ConvTranspose", "1,2,0,4"),
       "an extent: found 0, wanted 1 to "},
      {columns("1,1,1", {0, 4}, {1, 1}), "an extent: found 0, wanted 1 to "},
      {columns("1,3,4", {4, 1}, {2, 1}), "data: found (1, 3, 4), wanted (n, a multiple of 2, 3)"},
      {columns("1,4096,4097", {8192}, {4096}),
       "blocks: found 4097 of 4096 places, wanted at most 16777216 places"},
      {MicrosoftModel("FusedConv", "x,w", Input("x", "1,2,4,4") + Input("w", "2,2,3,3"),
                      Attr("activation", "Clip")),
       "activation_params: found 0 values, wanted 2"},
  });
}

TEST(ProductRefusals, OfPools) {
  const std::string window = Attr("kernel_shape", Values{2, 2}),
                    strides = Attr("strides", Values{2, 2});
  const auto pool = [](const char* op, const char* data, const std::string& attributes) {
    return Model(Input("x", data) + Node(op, "x", attributes));
  };
  const auto unpool = [&](const char* places, const Values& shape) {
    return Model(Input("x", "1,1,2,2") + Input("i", places) + Ints("s", shape) +
                 Node("MaxUnpool", "x,i,s", window + strides));
  };
  ExpectRefusals({
      {pool("MaxPool", "1,1,4,4", Attr("kernel_shape", Values{2})),
       "kernel_shape: found 1 extents, wanted 2"},
      {pool("MaxPool", "1,1,4,4", window + Attr("pads", Values{0, 0, 2, 0})),
       "pads: found 2, wanted less than 2, the extent of the window, which would lie in the "
       "padding "
       "alone"},
      {pool("AveragePool", "1,1,4,4", window + Attr("pads", Values{5, 5, 5, 5})),
       "pads: found 5, wanted less than 2"},
      {pool("LpPool", "1,1,4,4", window + Attr("p", 0)), "p: found 0, wanted a positive number"},
      {pool("GlobalLpPool", "1,1,4,4", Attr("p", -1)), "p: found -1, wanted a positive number"},
      {pool("GlobalLpPool", "4,4", ""),
       "(GlobalLpPool): data: found Tensor[(4, 4), float32], wanted rank 3 or more"},
      {unpool("1,1,2", {1, 1, 4, 4}),
       "indices: found Tensor[(1, 1, 2), float32], wanted (1, 1, 2, 2)"},
      {unpool("1,1,2,2", {4, 4}), "output_shape: found (4, 4), wanted as the data"},
      {unpool("1,1,2,2", {1, 1, 4, 3}),
       "output_shape: found (1, 1, 4, 3), wanted at least (1, 1, 4, 4)"},
  });
}

// Exporters write these pads. A window that lies entirely in the padding has the result 0.
TEST(ProductRefusals, NoneOfPadsThatHaveAMeaning) {
  const std::string window = Attr("kernel_shape", Values{2, 2});
  for (const auto& [op, attributes] : std::vector<std::pair<const char*, std::string>>{
           {"MaxPool", Attr("auto_pad", "VALID") + Attr("pads", Values{0, 0, 0, 0})},
           {"MaxPool", Attr("auto_pad", "NOTSET") + Attr("pads", Values{1, 1, 1, 1})},
           {"MaxPool", Attr("dilations", Values{2, 2}) + Attr("pads", Values{2, 2, 2, 2})},
           {"AveragePool", Attr("count_include_pad", 1) + Attr("pads", Values{2, 2, 2, 2})},
           {"LpPool", Attr("pads", Values{2, 2, 2, 2})}}) {
    const std::string text =
        Text(Model(Input("x", "1,1,4,4") + Node(op, "x", window + attributes)));
    EXPECT_EQ(text.find("m.onnx: "), std::string::npos) << text;
  }
}

TEST(ProductRefusals, OfNormalisationsAndLosses) {
  const auto loss = [](const char* op, const char* scores, const char* target,
                       const std::string& attributes = "") {
    return Model(Input("x", scores) + Input("t", target) + Node(op, "x,t", attributes));
  };
  ExpectRefusals({
      {Model(Input("x", "4") + Input("s", "4") +
                 Node("BatchNormalization", "x,s,s,s,s", Attr("training_mode", 1)),
             15),
       "data: found Tensor[(4,), float32], wanted rank 2 or more"},
      {Model(Input("x", "1,4,2") + Input("s", "4") +
                 Node("GroupNormalization", "x,s,s", Attr("num_groups", 3)),
             21),
       "num_groups: found 3 of Tensor[(1, 4, 2), float32], wanted a divisor of the channels"},
      {Model(Input("x", "2,2") + Node("LpNormalization", "x", Attr("p", 3))),
       "p: found 3, wanted 1 or 2"},
      {loss("NegativeLogLikelihoodLoss", "2,3", "3"),
       "scores and target: found Tensor[(2, 3), float32] and Tensor[(3,), float32], wanted (n, "
       "classes, d…) and (n, d…)"},
      {loss("NegativeLogLikelihoodLoss", "2,3", "2", Attr("reduction", "median")),
       "reduction: found median, wanted none, sum or mean"},
      {loss("SoftmaxCrossEntropyLoss", "2", "2"),
       "scores: found Tensor[(2,), float32], wanted (n, classes, d…)"},
  });
}

TEST(ProductRefusals, OfAttention) {
  const std::string x = Input("x", "2,3,4"), z = Input("z", "2,5,4");
  const auto attention = [&](absl::string_view inputs, const std::string& operands, int heads) {
    return MicrosoftModel("MultiHeadAttention", inputs, x + z + operands, Attr("num_heads", heads));
  };
  const auto embedding = [](const std::string& ids, const char* positions) {
    return MicrosoftModel("EmbedLayerNormalization", "x,,w,p,,g,g",
                          ids + Input("w", "9,4") + Input("p", positions) + Input("g", "4"));
  };
  ExpectRefusals({
      {attention("x,x,x", "", 0), "num_heads: found 0, wanted 1 or more"},
      {attention("x,x,x", "", 3),
       "query: found Tensor[(2, 3, 4), float32], wanted (2, positions, a multiple of 3)"},
      {attention("x,k,x", Input("k", "1,3,4"), 2),
       "key: found Tensor[(1, 3, 4), float32], wanted (2, positions, a multiple of 2)"},
      {attention("x,x,v", Input("v", "2,3,3"), 2),
       "value: found Tensor[(2, 3, 3), float32], wanted (2, positions, a multiple of 2)"},
      {attention("x,x,x,b", Input("b", "3"), 2),
       "bias: found Tensor[(3,), float32], wanted 4 values or more"},
      {attention("x,x,z", "", 2),
       "key and value: found Tensor[(2, 2, 3, 2), float32] and Tensor[(2, 2, 5, 2), float32], "
       "wanted as many positions, and keys as wide as queries"},
      {attention("x,x,x,,,,p,p", Input("p", "2,2,1,3"), 2),
       "past: found Tensor[(2, 2, 1, 3), float32], wanted (2, 2, 1, 2)"},
      {MicrosoftModel("Attention", "x,w", Input("x", "3,4") + Input("w", "4,6"),
                      Attr("num_heads", 1)),
       "input and weights: found Tensor[(3, 4), float32] and Tensor[(4, 6), float32], wanted rank "
       "3 and rank 2"},
      {MicrosoftModel("Attention", "x,w", x + Input("w", "4,6"), Attr("num_heads", 0)),
       "num_heads: found 0, wanted 1 or more"},
      {MicrosoftModel("Attention", "x,w,,,p", x + Input("w", "4,6") + Input("p", "2,2,1,3,3"),
                      Attr("num_heads", 1)),
       "past: found Tensor[(2, 2, 1, 3, 3), float32], wanted (2, 2, 1, 0, 2) with any extent in "
       "the place of 0"},
      {embedding(Ints("x", {1, 2, 3}), "9,4"),
       "input_ids and position_embedding: found Tensor[(3,), int64] and Tensor[(9, 4), float32], "
       "wanted two matrices"},
      {embedding("initializer { name: 'x' data_type: 7 dims: 1 dims: 3 int64_data: [1, 2, 3] }\n",
                 "2,4"),
       "input_ids: found 3 positions, wanted at most 2"},
  });
}

TEST(ProductRefusals, OfRecurrentOperators) {
  const auto lstm = [](const std::string& attributes, const char* data = "5,1,3") {
    return Model(Input("x", data) + Input("w", "1,8,3") + Input("r", "1,8,2") +
                 Node("LSTM", "x,w,r", attributes));
  };
  const auto activations = [](const std::string& names) {
    return "attribute { name: 'activations' type: STRINGS " + names + " } ";
  };
  ExpectRefusals({
      {lstm("", "5,3"),
       "X and R: found Tensor[(5, 3), float32] and Tensor[(1, 8, 2), float32], wanted tensors of "
       "rank 3"},
      {lstm(Attr("direction", "up")),
       "direction: found up, wanted forward, reverse or bidirectional"},
      {lstm(Attr("hidden_size", 7)), "hidden_size: found 7, wanted 2 as R has"},
      {lstm("attribute { name: 'clip' type: FLOAT f: 0 } "),
       "clip: found 0, wanted a positive number"},
      {lstm(activations("strings: 'Tanh'")), "activations: found 1, wanted 3"},
      {lstm(activations("strings: ['Tanh', 'Tanh', 'Sine']")),
       "activation: found 'Sine', wanted affine, "},
  });
}

}  // namespace
}  // namespace kiln::onnx_frontend
