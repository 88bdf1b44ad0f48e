// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/fixed_nodes.h"

#include <utility>

#include "compiler/base/tensor.h"
#include "compiler/graph/test_ops.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

const TensorType kScalar = {{}, DType::Float(32)};

class FixedNodesTest : public ::testing::Test {
 protected:
  ValueId Relu(ValueId data) { return Add({.op = FindTestOp("nn.relu"), .inputs = {data}}); }
  ValueId Sum(ValueId lhs, ValueId rhs) {
    return Add({.op = FindTestOp("add"), .inputs = {lhs, rhs}});
  }

  Graph graph_;
  ValueId input_ = graph_.AddInput("x", kScalar);
  ValueId constant_ = graph_.AddConstant(Tensor::Scalar(DType::Float(32), 2));

 private:
  ValueId Add(Node node) {
    return graph_.node(graph_.AddNode(std::move(node), {kScalar})).outputs[0];
  }
};

TEST_F(FixedNodesTest, AllInputsMustBeFixed) {
  const ValueId fixed = Relu(constant_);
  const ValueId computed = Relu(input_);
  const ValueId both = Sum(fixed, constant_), mixed = Sum(fixed, input_);
  FixedNodes nodes(graph_);
  EXPECT_TRUE(nodes.Contains(constant_));
  EXPECT_FALSE(nodes.Contains(input_));
  EXPECT_TRUE(nodes.Contains(fixed));
  EXPECT_FALSE(nodes.Contains(computed));
  EXPECT_TRUE(nodes.Contains(both));
  EXPECT_FALSE(nodes.Contains(mixed));
  EXPECT_TRUE(nodes.ContainsNode(graph_.value(both).node));
}

TEST_F(FixedNodesTest, NodesMayBeAdded) {
  FixedNodes nodes(graph_);
  const ValueId first = Relu(constant_);
  EXPECT_TRUE(nodes.Contains(first));
  EXPECT_TRUE(nodes.Contains(Relu(first)));
  EXPECT_FALSE(nodes.Contains(Sum(first, input_)));
}

TEST_F(FixedNodesTest, WhatIsMadeOfNodesThatDoNotCountIsNotFixed) {
  const ValueId relu = Relu(constant_);
  const ValueId sum = Sum(constant_, constant_), beyond = Sum(relu, sum);
  FixedNodes nodes(graph_, [](const Node& node) { return node.op_name() == "add"; });
  EXPECT_FALSE(nodes.Contains(relu));
  EXPECT_TRUE(nodes.Contains(sum));
  EXPECT_FALSE(nodes.Contains(beyond));
}

TEST_F(FixedNodesTest, NodesMayBeRemoved) {
  FixedNodes nodes(graph_);
  const ValueId first = Relu(constant_);
  nodes.Remove(graph_.value(first).node);
  EXPECT_FALSE(nodes.Contains(first));
  EXPECT_FALSE(nodes.Contains(Relu(first)));
}

}  // namespace
}  // namespace kiln
