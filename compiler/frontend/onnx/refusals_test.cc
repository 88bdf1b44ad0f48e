// SPDX-License-Identifier: Apache-2.0
// Refusals of the importer: one model for each error text that no other test of the package covers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/model_text.h"
#include "compiler/frontend/onnx/tensor_proto.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {
namespace {

using ::testing::HasSubstr;

constexpr char kMicrosoft[] = "opset_import { domain: 'com.microsoft' version: 1 }";

std::string OfMicrosoft(absl::string_view op, absl::string_view inputs,
                        absl::string_view rest = "") {
  return Node(op, inputs, absl::StrCat("domain: 'com.microsoft' ", rest));
}

std::string Scales(const std::vector<float>& values) {
  return Floats("s", absl::StrCat("dims: ", values.size()), values);
}

TEST(Refusals, OfFormsOfOperators) {
  const std::string image = Input("x", "1,1,4,4");
  ExpectRefusals({
      {Model(Input("x", "7,7") + Node("Det", "x")), "determinants of 7 rows; at most 6"},
      {Model(Input("x", "2") + Node("Constant", "", Attr("value_string", "text"))),
       "a constant that is no dense tensor of numbers"},
      {Model(Input("x", "2") + Node("Tile", "x"), 5), "the form of opsets below 6"},
      {Model(Input("x", "1,1,2") + Input("w", "1,8,2") + Node("LSTM", "x,w,w"), 6),
       "the forms of opsets below 7"},
      {Model(
           Input("x", "1,1,2,2,2") +
           Node("MaxPool", "x",
                "output: 'places' attribute { name: 'kernel_shape' type: INTS ints: [1, 1, 1] } " +
                    Attr("storage_order", 1))),
       "storage_order = 1 of three dimensions"},
      {Model(Input("x", "1,1,2,2,2,2") +
             Node("MaxPool", "x",
                  "attribute { name: 'kernel_shape' type: INTS ints: [1, 1, 1, 1] } ")),
       "rank 6 data; ranks 3 to 5 are supported"},
      {Model(Input("x", "1,2,2,2,2") + Scales({2, 2, 2, 2, 2}) + Node("Resize", "x,,s")),
       "dimensions to resize that are more than three apart"},
      {Model(image + Scales({1, 1, 0.5F, 0.5F}) + Floats("r", "dims: 8", {0, 0, 0, 0, 1, 1, 1, 1}) +
                 Node("Resize", "x,r,s",
                      Attr("antialias", 1) + Attr("mode", "linear") +
                          Attr("coordinate_transformation_mode", "tf_crop_and_resize")),
             18),
       "antialias = 1 with tf_crop_and_resize"},
  });
}

TEST(Refusals, OfFormsOfMicrosoftsOperators) {
  const std::string x = Input("x", "2,3,4"), heads = Attr("num_heads", 1);
  const auto model = [](const std::string& graph) { return Model(graph, 13, kMicrosoft); };
  ExpectRefusals({
      {model(x + OfMicrosoft("MultiHeadAttention", "x", heads)),
       "a packed query; query, key and value have rank 3"},
      {model(x + Ints("p", {1}) + OfMicrosoft("MultiHeadAttention", "x,x,x,,,,,,p", heads)),
       "past_sequence_length and cache_indirection"},
      {model(x + Input("m", "7,7") + OfMicrosoft("MultiHeadAttention", "x,x,x,,m", heads)),
       "the mask: found Tensor[(7, 7), float32], wanted the shape (2,), (2, 3) or (2, 3, 3)"},
      {model(x + Input("w", "4,6") + OfMicrosoft("Attention", "x,w", heads + Attr("do_rotary", 1))),
       "past_sequence_length, do_rotary and past_present_share_buffer"},
      {model(x + OfMicrosoft("FusedMatMul", "x,x", Attr("transBatchA", 1))),
       "transBatchA and transBatchB"},
      {model(x + Input("g", "4") + OfMicrosoft("LayerNormalization", "x,g,g", "output: 'mean' ")),
       "the outputs mean and inv_std_var"},
      {model(Input("x", "1,1,2,2") +
             OfMicrosoft("QLinearAveragePool", "x,s,,s", Attr("channels_last", 1)) +
             Floats("s", "", {1})),
       "channels_last = 1; export the model with channels first"},
  });
}

TEST(Refusals, OfWhatAnImportCannotCompute) {
  const std::string condition =
      "input { name: 'c' type { tensor_type { elem_type: 9 shape { } } } }\n";
  const auto branch = [](const std::string& name) {
    return "attribute { name: '" + name + "' type: GRAPH g { node { op_type: 'MatMul' input: 'x' " +
           "input: 'x' output: 'r' } output { name: 'r' } } } ";
  };
  ExpectRefusals({
      {Model(Input("x", "2,2") + condition +
             Node("If", "c", branch("then_branch") + branch("else_branch"))),
       "or end the model before this node (--outputs); its branches cannot both be computed: one "
       "of them has the product of node '"},
      // The shape depends on a sum of 2^25 elements.
      {Model(Input("x", "2,2") + Ints("n", {1 << 25}) +
             "node { op_type: 'ConstantOfShape' input: 'n' output: 'zeros' }"
             "node { op_type: 'Exp' input: 'zeros' output: 'ones' }"
             "node { op_type: 'ReduceSum' input: 'ones' output: 'sum' }"
             "node { op_type: 'Cast' input: 'sum' output: 's' attribute { name: 'to' type: INT i: "
             "7 } }" +
             Node("Reshape", "x,s")),
       "is computed from more data, or in more operations, than an import takes"},
  });
}

TEST(Refusals, OfOperandsThatDoNotFit) {
  const std::string x = Input("x", "2,3,4"), heads = Attr("num_heads", 4);
  const auto attention = [&](const char* weights, const std::string& attributes) {
    return Model(x + Input("w", weights) + OfMicrosoft("Attention", "x,w", heads + attributes), 13,
                 kMicrosoft);
  };
  const auto image = [](std::vector<int64_t> shape, std::vector<int64_t> block) {
    return Model(
        Input("x", "1,4,4") + Ints("i", shape) + Ints("b", block) + Node("Col2Im", "x,i,b"), 18);
  };
  const std::string no_steps =
      "input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { "
      "dim_value: 0 } dim { dim_value: 1 } dim { dim_value: 2 } } } } }\n";
  ExpectRefusals({
      {attention("4,9", ""), "width of q, k or v: found 3, wanted a multiple of num_heads, 4"},
      {attention("4,9", "attribute { name: 'qkv_hidden_sizes' type: INTS ints: [4, 4] } "),
       "wanted 3 widths that add up to 9, those of q and k alike"},
      {Model(Input("x", "2") + OfMicrosoft("FusedMatMul", "x,x", Attr("transA", 1)), 13,
             kMicrosoft),
       "an operand: found Tensor[(2,), float32], wanted rank 2 or more"},
      {image({4, 4}, {2}), "block_shape: found (2,), wanted 2 extents, as image_shape"},
      {image({4, 4}, {5, 1}), "block_shape: found (5, 1), wanted one that fits into the image"},
      {image({1 << 20, 1 << 20, 1 << 20, 1 << 20}, {1, 1, 1, 1}),
       "wanted a tensor within the limits"},
      {Model(no_steps + Input("w", "1,8,2") + Node("LSTM", "x,w,w")),
       "wanted one step or more of a batch of one or more"},
      {Model(Input("x", "1,1,4,4") + Input("r", "4") + Ints("b", {0}) + Node("RoiAlign", "x,r,b")),
       "rois: found Tensor[(4,), float32], wanted (regions, 4)"},
      {Model(Input("x", "4") + Ints("k", {1, 2}) + Node("TopK", "x,k", "output: 'places' ")),
       "K: found Tensor[(2,), int64], wanted one number"},
      {Model(Input("x", "4") + Floats("a", "dims: 1 dims: 1 dims: 4", {0, 0, 1, 1}) +
             Floats("b", "dims: 1 dims: 1 dims: 1", {1}) + Ints("k", {1, 2}) +
             Node("NonMaxSuppression", "a,b,k")),
       "wanted one number"},
      {Model("input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_value: 1025 } "
             "} } } }\n"
             "node { op_type: 'SplitToSequence' input: 'x' output: 's' }" +
             Ints("p", {0}) + Node("SequenceAt", "s,p")),
       "found a sequence of 1025 tensors, wanted at most 1024"},
      {Model("node { op_type: 'SequenceEmpty' output: 's' }" + Ints("p", {0, 1}) +
             Node("SequenceAt", "s,p")),
       "the position: found Tensor[(2,), int64], wanted one integer"},
      {Model(Input("x", "2") + Ints("c", {1, 1}) +
             Node("If", "c",
                  "attribute { name: 'then_branch' type: GRAPH g { output { name: 'x' } } } "
                  "attribute { name: 'else_branch' type: GRAPH g { output { name: 'x' } } } ")),
       "the condition: found Tensor[(2,), int64], wanted one bool"},
      {Model(Ints("a", {8}) + Ints("b", {16}) + Floats("low", "", {-1}) + Floats("high", "", {9}) +
                 Node("MelWeightMatrix", "a,b,b,low,high"),
             17),
       "wanted one number, not negative"},
  });
}

// The scale of a quantized bias is the product of the factors' scales. The scale of the first
// factor must be a single one.
TEST(Refusals, OfABiasOfSeveralScales) {
  const auto model = [](const std::string& x_scale) {
    return Model(x_scale + Floats("s", "", {1}) +
                 "initializer { name: 'x' data_type: 2 dims: [1, 1, 1, 2] raw_data: 'ab' }\n"
                 "initializer { name: 'w' data_type: 2 dims: [1, 1, 1, 1] raw_data: 'a' }\n"
                 "initializer { name: 'z' data_type: 2 raw_data: 'a' }\n"
                 "initializer { name: 'b' data_type: 6 dims: 1 int32_data: 3 }\n" +
                 Node("QLinearConv", "x,xs,z,w,s,z,s,z,b"));
  };
  EXPECT_THAT(Text(model(Floats("xs", "", {1}))), HasSubstr("qnn.quantize("));
  EXPECT_THAT(Text(model(Floats("xs", "dims: 2", {1, 2}))),
              HasSubstr("the scale of the first factor: found Tensor[(2,), float32], wanted one "
                        "number, as there is a bias"));
}

std::string Loop(const std::string& inputs, const std::string& nodes) {
  return Node("Loop", "n,,x",
              "output: 'each' attribute { name: 'body' type: GRAPH g { " + inputs + nodes +
                  "output { name: 'go' } output { name: 'w' } output { name: 'v' type { "
                  "tensor_type { elem_type: 1 shape { dim { dim_param: 'k' } } } } } } } ");
}

TEST(Refusals, OfLoops) {
  const std::string x = Input("x", "2"),
                    inputs = "input { name: 'i' } input { name: 'go' } input { name: 'v' } ";
  std::string long_body = "node { op_type: 'Relu' input: 'v' output: 'w0' } ";
  for (int i = 1; i < 100; ++i) {
    absl::StrAppend(&long_body, "node { op_type: 'Relu' input: 'w", i - 1, "' output: 'w", i,
                    "' } ");
  }
  long_body += "node { op_type: 'Relu' input: 'w99' output: 'w' } ";
  const std::string body = "node { op_type: 'Relu' input: 'v' output: 'w' } ";
  const auto count = [](int64_t n) {
    return absl::StrCat("initializer { name: 'n' data_type: 7 int64_data: ", n, " }\n");
  };
  ExpectRefusals({
      {Model(x + count(0) + Loop(inputs, body)),
       "no iteration, and a body that does not say the shape of its output 'v'"},
      {Model(x + count(1) +
             Loop("input { name: 'i' } input { name: 'go' } input { name: 'i' } ", body)),
       "two inputs of the body are called 'i'"},
      {Model(x + count(1024) + Loop(inputs, long_body)),
       "the model's loops and functions, written out, have more than 100000 nodes"},
  });
}

// Returns a function of the domain "own".
std::string Function(const std::string& name, const std::string& rest) {
  return "functions { name: '" + name +
         "' domain: 'own' opset_import { version: 13 } opset_import { domain: 'own' version: 1 } "
         "output: 'r' " +
         rest + " }\n";
}

std::string ModelOfFunctions(const std::string& functions, const std::string& inputs) {
  return Model(Input("x", "2") + Node("F0", inputs, "domain: 'own' "), 13,
               "opset_import { domain: 'own' version: 1 } " + functions);
}

TEST(Refusals, OfFunctions) {
  const std::string relu = "node { op_type: 'Relu' input: 'a' output: 'r' }";
  std::string nested;
  for (int i = 0; i < 100; ++i) {
    nested +=
        Function(absl::StrCat("F", i), absl::StrCat("input: 'a' node { op_type: 'F", i + 1,
                                                    "' domain: 'own' input: 'a' output: 'r' }"));
  }
  nested += Function("F100", "input: 'a' " + relu);
  ExpectRefusals({
      {ModelOfFunctions(Function("F0", "input: 'a' input: 'a' " + relu), "x,x"),
       "two inputs of the function are called 'a'"},
      {ModelOfFunctions(
           Function("F0", "input: 'a' node { op_type: 'Relu' input: 'a' output: 's' }"), "x"),
       "no node of the function makes its output 'r'"},
      {ModelOfFunctions(nested, "x"), "bodies inside of bodies: found more than "},
  });

  // The field with the defaults of a function's attributes is not a message.
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(ModelOfFunctions(Function("F0", "input: 'a' " + relu), "x")));
  onnx::FunctionProto& function = *model.mutable_functions(0);
  constexpr int kAttributeProtoField = 11;
  function.GetReflection()->MutableUnknownFields(&function)->AddVarint(kAttributeProtoField, 7);
  EXPECT_THAT(Text(model.SerializeAsString()),
              HasSubstr("the defaults of its attributes cannot be read"));
}

TEST(Refusals, OfBytesThatAreNoTensor) {
  EXPECT_EQ(ParseOnnxTensor("\xff").status().message(), "not an ONNX tensor");
}

}  // namespace
}  // namespace kiln::onnx_frontend
