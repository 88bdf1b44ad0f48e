// SPDX-License-Identifier: Apache-2.0
// Windows that move within the memory of a state.
#include <numeric>
#include <string>
#include <vector>

#include "compiler/loop/interpret.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

Lowered LowerWindow(const std::string& model) {
  const Target target = Target::Parse("cortex-m4f").value();
  absl::StatusOr<Lowered> lowered =
      Lower(ParseModel(model), target, {.states = {{.input = 0, .output = 0, .initial = 0}}});
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  return lowered.ok() ? *std::move(lowered) : Lowered();
}

// Returns the result of the first call for 0, 1, 2, …, if the state and its next value share
// memory.
std::vector<float> Moved(const Lowered& lowered, size_t elements) {
  std::vector<float> memory(elements);
  std::iota(memory.begin(), memory.end(), 0.0F);
  const std::vector<void*> args = {memory.data(), memory.data()};
  EXPECT_TRUE(loop::Interpreter(lowered.program).Run(lowered.calls[0].function, args).ok());
  return memory;
}

void ExpectMove(const Lowered& lowered) {
  ASSERT_FALSE(lowered.calls.empty());
  EXPECT_EQ(lowered.calls[0].schedule, "move within a state");
  EXPECT_EQ(lowered.calls[0].in_place, (std::vector<std::pair<int, int>>{{0, 0}}));
  EXPECT_TRUE(lowered.program.funcs[0].in_place);
  EXPECT_EQ(lowered.calls[0].inputs.size(), 1u);
  EXPECT_EQ(lowered.calls[0].outputs.size(), 1u);
}

TEST(MoveWithin, AWindowMovesTowardsItsBeginning) {
  const Lowered lowered = LowerWindow(R"(
def @main(%s: Tensor[(1, 4, 2), float32], %x: Tensor[(1, 1, 2), float32]) {
  %0 = strided_slice(%s, begin=[1], end=[4], axes=[1]);
  concatenate((%0, nn.relu(%x)), axis=1)
})");
  ExpectMove(lowered);
  EXPECT_EQ(Moved(lowered, 8), (std::vector<float>{2, 3, 4, 5, 6, 7, 6, 7}));
  // The only other call writes the new step after the window.
  EXPECT_EQ(lowered.calls.size(), 2u);
}

TEST(MoveWithin, EveryRowOfAnInnerAxisMoves) {
  const Lowered lowered = LowerWindow(R"(
def @main(%s: Tensor[(2, 5), float32], %x: Tensor[(2, 2), float32]) {
  %0 = strided_slice(%s, begin=[2], end=[5], axes=[1]);
  concatenate((%0, %x), axis=1)
})");
  ExpectMove(lowered);
  EXPECT_EQ(Moved(lowered, 10), (std::vector<float>{2, 3, 4, 3, 4, 7, 8, 9, 8, 9}));
}

// The state is flat, as that of SVDF.
TEST(MoveWithin, ViewsOfAStateAreItsMemory) {
  const Lowered lowered = LowerWindow(R"(
def @main(%s: Tensor[(1, 6), float32], %x: Tensor[(1, 2, 1), float32]) {
  %0 = reshape(%s, newshape=[1, 2, 3]);
  %1 = strided_slice(%0, begin=[1], end=[3], axes=[2]);
  %2 = concatenate((%1, %x), axis=2);
  reshape(%2, newshape=[1, 6])
})");
  ASSERT_GE(lowered.calls.size(), 2u);
  EXPECT_EQ(lowered.calls[1].schedule, "move within a state");
  std::vector<float> memory = {0, 1, 2, 3, 4, 5};
  const std::vector<void*> args = {memory.data(), memory.data()};
  EXPECT_TRUE(loop::Interpreter(lowered.program).Run(lowered.calls[1].function, args).ok());
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 2, 4, 5, 5}));
}

TEST(MoveWithin, WhatMovesTheOtherWayDoesNot) {
  const Lowered lowered = LowerWindow(R"(
def @main(%s: Tensor[(1, 4, 2), float32], %x: Tensor[(1, 1, 2), float32]) {
  %0 = strided_slice(%s, begin=[0], end=[3], axes=[1]);
  concatenate((nn.relu(%x), %0), axis=1)
})");
  for (const Call& call : lowered.calls) EXPECT_NE(call.schedule, "move within a state");
}

TEST(MoveWithin, OnlyAStateIsOneMemory) {
  const Target target = Target::Parse("cortex-m4f").value();
  const Graph graph = ParseModel(R"(
def @main(%s: Tensor[(1, 4, 2), float32], %x: Tensor[(1, 1, 2), float32]) {
  %0 = strided_slice(%s, begin=[1], end=[4], axes=[1]);
  concatenate((%0, %x), axis=1)
})");
  const absl::StatusOr<Lowered> lowered = Lower(graph, target, {});
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  for (const Call& call : lowered->calls) EXPECT_NE(call.schedule, "move within a state");
}

}  // namespace
}  // namespace kiln
