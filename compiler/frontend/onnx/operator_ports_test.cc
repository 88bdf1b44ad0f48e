// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/operator_ports.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "compiler/frontend/onnx/import.h"
#include "onnx/defs/schema.h"

namespace kiln::onnx_frontend {
namespace {

// The last operator set of the ONNX library that tests are built with.
constexpr int kLastOfLibrary = 17;

TEST(OperatorPorts, AreThereForEveryOperator) {
  for (const char* domain : {"ai.onnx", "ai.onnx.ml", "com.microsoft"}) {
    for (const std::string& op : OperatorNames(domain)) {
      EXPECT_TRUE(PortsOf(domain, op, 26).has_value()) << domain << " " << op;
    }
  }
}

int NumberOf(int of_schema) {
  return of_schema == std::numeric_limits<int>::max() ? kAnyNumber : of_schema;
}

TEST(OperatorPorts, AreThoseOfOnnxsSchemas) {
  int compared = 0;
  for (const char* domain : {"", "ai.onnx.ml"}) {
    for (const std::string& op : OperatorNames(*domain == '\0' ? "ai.onnx" : domain)) {
      for (int version = 1; version <= kLastOfLibrary; ++version) {
        const onnx::OpSchema* const schema = onnx::OpSchemaRegistry::Schema(op, version, domain);
        const std::optional<Ports> found = PortsOf(domain, op, version);
        if (schema == nullptr || !found.has_value()) continue;
        EXPECT_EQ(found->max_inputs, NumberOf(schema->max_input())) << op << " " << version;
        EXPECT_EQ(found->max_outputs, NumberOf(schema->max_output())) << op << " " << version;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

// Returns the error message for a node with these numbers of inputs and outputs.
std::string Said(const std::string& op, int version, int inputs, int outputs,
                 const std::string& last = "z") {
  onnx::NodeProto node;
  node.set_op_type(op);
  for (int i = 0; i < inputs; ++i) node.add_input(i + 1 == inputs ? last : "x");
  for (int i = 0; i < outputs; ++i) node.add_output(i + 1 == outputs ? last : "y");
  return std::string(CheckPorts(node, version).message());
}

TEST(CheckPorts, RefusesMoreThanTheOperatorHas) {
  EXPECT_EQ(Said("Relu", 13, 1, 1), "");
  EXPECT_EQ(Said("Relu", 13, 1, 3),
            "outputs: found 3, wanted at most 1, as Relu of operator set 13 has");
  EXPECT_EQ(Said("Conv", 11, 4, 1),
            "inputs: found 4, wanted at most 3, as Conv of operator set 11 has");
  EXPECT_EQ(Said("Clip", 10, 3, 1),
            "inputs: found 3, wanted at most 1, as Clip of operator set 10 has");
  EXPECT_EQ(Said("Clip", 11, 3, 1), "");
  EXPECT_EQ(Said("Conv", 11, 4, 2, ""), "");
  EXPECT_EQ(Said("Concat", 13, 100, 1), "");
  EXPECT_EQ(Said("Split", 13, 2, 100), "");
  EXPECT_EQ(Said("Own", 1, 100, 100), "");
}

}  // namespace
}  // namespace kiln::onnx_frontend
