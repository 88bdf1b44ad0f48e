// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/byte_constants.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kiln {
namespace {

ValueId AddZeros(Graph& graph, DType dtype, int64_t elements) {
  const TensorType type = {{elements}, dtype};
  return graph.AddConstant(Tensor(type, std::string(static_cast<size_t>(type.num_bytes()), '\0')));
}

TEST(ByteConstants, AreThoseThatNodesRead) {
  auto body = std::make_shared<Graph>();
  Node inner;
  inner.inputs = {AddZeros(*body, DType::UInt(8), 3)};
  body->AddNode(std::move(inner), 0);
  Graph graph;
  Node group;
  group.inputs = {AddZeros(graph, DType::Int(8), 7), AddZeros(graph, DType::Float(32), 5),
                  AddZeros(graph, DType::Int(8), 2)};
  group.body = body;
  graph.AddNode(std::move(group), 0);
  AddZeros(graph, DType::Int(8), 9);  // no node reads it
  EXPECT_EQ(ByteConstantsOf(graph), (std::vector<int64_t>{2, 3, 7}));
}

}  // namespace
}  // namespace kiln
