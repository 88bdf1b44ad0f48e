// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/node_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"

namespace kiln::onnx_frontend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

onnx::GraphProto Parse(const std::string& text) {
  onnx::GraphProto graph;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &graph)) << text;
  return graph;
}

NodeOrder Order(const onnx::GraphProto& graph, const std::string& known = "x") {
  return OrderOf(graph.node(), [&](const std::string& name) { return name == known; });
}

TEST(NodeOrderTest, SortedNodesStayAsTheyAre) {
  const NodeOrder order = Order(Parse(
      "node { input: 'x' output: 'b' } node { input: '' output: 'a' } node { input: 'b' input: 'a' "
      "input: 'elsewhere' }"));
  EXPECT_THAT(order.sorted, ElementsAre(0, 1, 2));
  EXPECT_THAT(order.circle, IsEmpty());
}

TEST(NodeOrderTest, NodesGoBehindThoseThatTheyRead) {
  const NodeOrder order =
      Order(Parse("node { input: 'b' output: 'c' } node { input: 'x' output: 'a' } "
                  "node { input: 'a' input: 'a' output: 'b' } node { input: 'x' output: 'd' }"));
  EXPECT_THAT(order.sorted, ElementsAre(1, 2, 0, 3));
}

TEST(NodeOrderTest, BodiesReadWhatIsAroundThem) {
  // 'own' is computed in the body, 'given' is its input and 'weight' its initializer. They differ
  // from the values of the same names in the outer graph. Reads of nested bodies count as well.
  const NodeOrder order = Order(Parse(R"(
      node { output: 'y' attribute { name: 'body' g {
        input { name: 'given' } initializer { name: 'weight' }
        node { input: 'given' input: 'weight' output: 'own' }
        node { input: 'own' attribute { name: 'body' g { output { name: 'deep' } } } }
      } } }
      node { input: 'y' output: 'own' }
      node { input: 'y' output: 'given' }
      node { input: 'y' output: 'weight' }
      node { output: 'deep' })"));
  EXPECT_THAT(order.sorted, ElementsAre(4, 0, 1, 2, 3));
  EXPECT_THAT(order.circle, IsEmpty());
}

TEST(NodeOrderTest, CirclesAreTold) {
  const NodeOrder order =
      Order(Parse("node { input: 'b' output: 'a' } node { input: 'a' output: 'b' } "
                  "node { input: 'b' output: 'c' } node { input: 'd' output: 'd' } "
                  "node { input: 'x' output: 'e' }"));
  EXPECT_THAT(order.sorted, ElementsAre(4));
  EXPECT_THAT(order.circle, ElementsAre(0, 1, 2, 3));
}

TEST(NodeOrderTest, WhatIsKnownWaitsForNoNode) {
  EXPECT_THAT(Order(Parse("node { input: 'x' output: 'a' } node { output: 'x' }")).sorted,
              ElementsAre(0, 1));
}

TEST(NodeOrderTest, ManyNodesTheWrongWayRound) {
  constexpr int kNodes = 20'000;
  std::string text;
  for (int i = kNodes; i > 0; --i) {
    absl::StrAppend(&text, "node { input: 'v", i - 1, "' output: 'v", i, "' }");
  }
  const NodeOrder order = Order(Parse(text), "v0");
  ASSERT_EQ(order.sorted.size(), kNodes);
  EXPECT_EQ(order.sorted.front(), kNodes - 1);
  EXPECT_EQ(order.sorted.back(), 0);
}

}  // namespace
}  // namespace kiln::onnx_frontend
