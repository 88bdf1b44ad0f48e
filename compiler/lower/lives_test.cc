// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lives.h"

#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using Bytes = std::vector<int64_t>;

Bytes SpareBytes(const std::vector<TensorMemory>& memory) {
  Bytes bytes;
  for (const TensorMemory& of_node : memory) bytes.push_back(of_node.spare_bytes);
  return bytes;
}

// A chain of tensors of 40, 8, 16 and 4 bytes.
Graph Chain() {
  return ParseModel(R"(
def @main(%x: Tensor[(1, 10), float32], %a: Tensor[(2, 10), float32], %b: Tensor[(4, 2), float32],
          %c: Tensor[(1, 4), float32]) {
  nn.dense(nn.dense(nn.dense(%x, %a), %b), %c)
})");
}

TEST(Lives, EndWithTheLastReader) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(1, 8), float32]) {
  %0 = exp(%x);
  %1 = reshape(%0, newshape=[8]);
  %2 = tanh(%1);
  (%2, negative(%1))
})");
  const Slices slices(graph);
  const std::map<ValueId, Life> lives = FindLives(graph, slices);
  EXPECT_EQ(lives.size(), 4u);  // the view has no memory
  const ValueId exp = graph.node(0).outputs[0], view = graph.node(1).outputs[0];
  EXPECT_EQ(MemoryOf(graph, slices, view), exp);
  EXPECT_EQ(lives.at(exp).first, 0u);
  EXPECT_EQ(lives.at(exp).last, 3u);
  EXPECT_FALSE(lives.at(exp).is_callers);
  const Life& input = lives.at(graph.inputs[0]);
  EXPECT_EQ(input.last, 0u);
  EXPECT_TRUE(input.is_callers);
  const Life& output = lives.at(graph.outputs[0]);
  EXPECT_EQ(output.first, 2u);
  EXPECT_EQ(output.last, 3u);
}

// The weights are inputs here: 80, 32 and 16 bytes. In the workspace each dies with the node that
// reads it. The first node needs 40 + 8 + 128 bytes; its result may reach into values that die
// there.
TEST(Lives, MemoryOfOtherNodesIsSpare) {
  const Graph graph = Chain();
  const std::vector<TensorMemory> memory = FindTensorMemory(graph, Slices(graph), true);
  ASSERT_EQ(memory.size(), 3u);
  for (const TensorMemory& of_node : memory) EXPECT_EQ(of_node.least_bytes, 168);
  EXPECT_EQ(SpareBytes(memory), (Bytes{168 - 176, 168 - 72, 168 - 36}));
}

TEST(Lives, TensorsOfTheCallerAreAlwaysThere) {
  const Graph graph = Chain();
  // 172 bytes at all times, and the results of the first two nodes.
  EXPECT_EQ(SpareBytes(FindTensorMemory(graph, Slices(graph), false)),
            (Bytes{188 - 180, 188 - 196, 188 - 188}));
}

}  // namespace
}  // namespace kiln
