// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/attribute_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/import.h"
#include "google/protobuf/text_format.h"
#include "onnx/defs/schema.h"

namespace kiln::onnx_frontend {
namespace {

// The last operator set of the ONNX library that tests are built with.
constexpr int kLastOfLibrary = 17;

TEST(AttributeNames, AreThereForEveryOperator) {
  for (const char* domain : {"ai.onnx", "ai.onnx.ml", "com.microsoft"}) {
    for (const std::string& op : OperatorNames(domain)) {
      EXPECT_NE(AttributeNames(domain, op, 26), nullptr) << domain << " " << op;
    }
  }
}

TEST(AttributeNames, AreThoseOfOnnxsSchemas) {
  int compared = 0;
  for (const std::string& op : OperatorNames("ai.onnx")) {
    for (int version = 1; version <= kLastOfLibrary; ++version) {
      const onnx::OpSchema* const schema = onnx::OpSchemaRegistry::Schema(op, version, "");
      if (schema == nullptr) continue;
      std::vector<std::string> wanted;
      for (const auto& [name, attribute] : schema->attributes()) wanted.push_back(name);
      const std::vector<std::string>* const found = AttributeNames("", op, version);
      ASSERT_NE(found, nullptr) << op;
      EXPECT_EQ(*found, wanted) << op << " " << version;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

// Returns the error message for a node with the attribute.
std::string Said(const std::string& op, int version, const std::string& attribute,
                 const std::string& domain = "") {
  onnx::NodeProto node;
  node.set_op_type(op);
  node.set_domain(domain);
  node.add_attribute()->set_name(attribute);
  return std::string(CheckAttributeNames(node, version).message());
}

TEST(CheckAttributeNames, SuggestsTheNearestName) {
  EXPECT_EQ(Said("Conv", 13, "dilation"),
            "attribute 'dilation' is unknown, perhaps 'dilations': Conv of operator set 13 has "
            "auto_pad, dilations, group, kernel_shape, pads, strides");
  EXPECT_EQ(Said("Gemm", 13, "TransB"),
            "attribute 'TransB' is unknown, perhaps 'transB': Gemm of operator set 13 has alpha, "
            "beta, transA, transB");
  EXPECT_EQ(Said("Softmax", 13, "colour_of_sky"),
            "attribute 'colour_of_sky' is unknown: Softmax of operator set 13 has axis");
  EXPECT_EQ(Said("Relu", 14, "alpha"),
            "attribute 'alpha' is unknown: Relu of operator set 14 has none");
  EXPECT_EQ(Said("FusedConv", 1, "activations", "com.microsoft"),
            "attribute 'activations' is unknown, perhaps 'activation': FusedConv of operator set 1 "
            "has activation, activation_params, auto_pad, dilations, group, kernel_shape, pads, "
            "strides");
}

TEST(CheckAttributeNames, KnowsTheOperatorSet) {
  EXPECT_EQ(Said("Squeeze", 12, "axes"), "");
  EXPECT_EQ(Said("Squeeze", 13, "axes"),
            "attribute 'axes': found in operator set 13, wanted operator sets up to 12, which "
            "alone have it");
  EXPECT_EQ(Said("ArgMax", 11, "select_last_index"),
            "attribute 'select_last_index': found in operator set 11, wanted operator sets from 12 "
            "on, which alone have it");
  EXPECT_EQ(Said("Own", 1, "what_it_likes", "own"), "");
}

// Returns the error message for a node with these attributes, given as protobuf text.
std::string SaidOf(const std::string& attributes) {
  onnx::NodeProto node;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(attributes, &node));
  return std::string(CheckAttributeValues(node).message());
}

TEST(CheckAttributeValues, EachIsGivenOnceWithOneValueOfItsType) {
  EXPECT_EQ(SaidOf("attribute { name: 'axis' type: INT i: 1 } attribute { name: 'axes' }"), "");
  EXPECT_EQ(SaidOf("attribute { name: 'axis' type: INT } attribute { name: 'p' f: 1 }"), "");
  EXPECT_EQ(
      SaidOf("attribute { name: 'axis' type: INT i: 1 } attribute { name: 'axis' type: INT }"),
      "attribute 'axis': found it twice, wanted it once: ONNX does not permit two of one name in "
      "a node");
  EXPECT_EQ(SaidOf("attribute { name: 'axis' type: INT ints: 1 }"),
            "attribute 'axis': found values of the types INTS, wanted one of the type INT that it "
            "states");
  EXPECT_EQ(SaidOf("attribute { name: 'axis' type: INT i: 1 f: 1 }"),
            "attribute 'axis': found values of the types FLOAT and INT, wanted one of the type INT "
            "that it states");
  EXPECT_EQ(SaidOf("attribute { name: 'axis' i: 1 f: 1 }"),
            "attribute 'axis': found values of the types FLOAT and INT, wanted one value");
}

}  // namespace
}  // namespace kiln::onnx_frontend
