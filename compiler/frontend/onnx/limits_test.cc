// SPDX-License-Identifier: Apache-2.0
// Limits on the contents of a model and on the resulting graph. Small files may require a lot.
#include "compiler/base/limits.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/model_text.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {
namespace {

TEST(Limits, OfTheNodesOfAFile) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(
      Model(Input("x", "2") + "node { op_type: 'Relu' input: 'x' output: 'y' }")));
  for (int64_t i = 0; i < kMaxGraphNodes; ++i)
    model.mutable_graph()->add_node()->set_op_type("Relu");
  EXPECT_EQ(Text(model.SerializeAsString()), "m.onnx: 1000001 nodes, at most 1000000");
}

// Missing operators are reported once, regardless of the number of nodes.
TEST(Limits, AMillionUnknownNodesAreOneLine) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Model(Input("x", "2"))));
  for (int64_t i = 0; i + 1 < kMaxGraphNodes; ++i) {
    onnx::NodeProto& node = *model.mutable_graph()->add_node();
    node.set_op_type("Fancy");
    node.set_name(absl::StrCat("n", i));
  }
  EXPECT_EQ(Text(model.SerializeAsString()),
            "m.onnx: operator Fancy is not supported (nodes 'n0', 'n1', 'n2' and 999996 more)\n"
            "m.onnx: no node makes the output 'y'");
}

// The determinant of a matrix with six rows is expanded into many operators.
TEST(Limits, OfTheOperatorsThatNodesBecome) {
  std::string nodes = Input("x", "6,6");
  for (int i = 0; i < 2000; ++i) {
    absl::StrAppend(&nodes, "node { op_type: 'Det' name: 'n", i, "' input: 'x' output: 'd", i,
                    "' }\n");
  }
  EXPECT_EQ(Text(Model(nodes)),
            "m.onnx: node 'n1964' (Det): the model becomes more than 1000000 operators");
}

// Each iteration creates the constant anew. An exceeded limit in a body is reported once.
TEST(Limits, OfTheBytesOfConstants) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(
      Model(Input("x", "2") +
            "initializer { name: 'n' data_type: 7 int64_data: 1000 }\n"
            "node { op_type: 'Loop' name: 'loop' input: 'n' input: '' input: 'x' output: 'y' "
            "attribute { name: 'body' type: GRAPH g { input { name: 'i' } input { name: 'go' } "
            "input { name: 'v' } node { op_type: 'Constant' output: 'c' attribute { name: 'value' "
            "type: TENSOR t { data_type: 2 } } } output { name: 'go' } output { name: 'v' } } } "
            "}\n")));
  onnx::GraphProto& body =
      *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  onnx::TensorProto& constant = *body.mutable_node(0)->mutable_attribute(0)->mutable_t();
  constexpr int64_t kBytes = 5 << 20;
  constant.add_dims(kBytes);
  constant.set_raw_data(std::string(kBytes, '\0'));
  EXPECT_EQ(
      Text(model.SerializeAsString()),
      "m.onnx: node 'loop/c' (Constant): the model's constants have more than 4294967296 bytes");
}

}  // namespace
}  // namespace kiln::onnx_frontend
