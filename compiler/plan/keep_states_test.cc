// SPDX-License-Identifier: Apache-2.0
// Plans of models that keep their state.
#include "compiler/plan/plan.h"
#include "compiler/plan/testing/calls.h"
#include "compiler/plan/testing/memory.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// The plan of a model whose second input and second output are state.
Plan Make(Calls& m, ValueId output, ValueId next) {
  m.options.states = {{.input = 1, .output = 1, .initial = 3}};
  Plan plan = m.Make({output, next});
  Memory(plan, /*by_storage=*/false).Run();
  EXPECT_EQ(plan.states.size(), 1u);
  EXPECT_EQ(plan.inputs.size(), 1u);
  EXPECT_EQ(plan.outputs.size(), 1u);
  return plan;
}

bool IsInPlace(const Plan& plan) {
  return plan.Root(plan.states[0].output) == plan.states[0].input;
}

TEST(KeepStates, TheNextValueIsWrittenOverOneThatIsReadBefore) {
  Calls m;
  const ValueId x = m.Input(16), s = m.Input(16);
  const ValueId a = m.Call({x, s}, 16), next = m.Call({a}, 16);
  const Plan plan = Make(m, m.Call({next}, 4), next);
  EXPECT_TRUE(IsInPlace(plan)) << ToString(plan);
  EXPECT_FALSE(plan.states[0].is_copied);
  EXPECT_EQ(plan.calls.size(), 3u);
  // Calls only share the memory of `a`. The state is in a pool of its own.
  EXPECT_EQ(plan.workspace_bytes(), 64);
  ASSERT_EQ(plan.pools.size(), 2u);
  EXPECT_TRUE(plan.pools[1].is_state);
  EXPECT_FALSE(plan.pools[1].external);
  EXPECT_EQ(plan.pools[1].size_bytes, 64);
  EXPECT_EQ(plan.states[0].initial, 3);
}

TEST(KeepStates, ACallThatMayWriteOverWhatItReadsDoes) {
  Calls m;
  const ValueId x = m.Input(16), s = m.Input(16);
  const ValueId next = m.InPlace({s, x}, 16);
  EXPECT_TRUE(IsInPlace(Make(m, m.Call({next}, 4), next)));
}

TEST(KeepStates, WhatIsReadLaterIsCopiedAtTheEnd) {
  Calls m;
  const ValueId x = m.Input(16), s = m.Input(16);
  const ValueId next = m.Call({x}, 16), y = m.Call({next, s}, 16);
  const Plan plan = Make(m, y, next);
  EXPECT_FALSE(IsInPlace(plan));
  EXPECT_TRUE(plan.states[0].is_copied);
  ASSERT_EQ(plan.calls.size(), 3u);
  EXPECT_EQ(plan.calls[2].function, "copy_state_0");
  EXPECT_EQ(plan.calls[2].args, (std::vector<int>{plan.states[0].output, plan.states[0].input}));
  EXPECT_EQ(plan.workspace_bytes(), 64);  // the copied value lives to the end
  EXPECT_EQ(plan.buffers[static_cast<size_t>(plan.states[0].input)].last_call, 3);
}

TEST(KeepStates, ACallThatReadsAllBeforeItWritesIsCopied) {
  Calls m;
  const ValueId x = m.Input(16), s = m.Input(16);
  const ValueId next = m.Call({x, s}, 16);
  EXPECT_TRUE(Make(m, m.Call({next}, 4), next).states[0].is_copied);
}

TEST(KeepStates, ACallThatReadsTheStateTwiceIsCopied) {
  Calls m;
  m.Input(16);
  const ValueId s = m.Input(16);
  const ValueId next = m.InPlace({s, s}, 16);
  EXPECT_TRUE(Make(m, m.Call({next}, 4), next).states[0].is_copied);
}

TEST(KeepStates, NothingElseIsWrittenOverAState) {
  Calls m;
  const ValueId x = m.Input(16), s = m.Input(16);
  // The call could work in place, but its result is not a state.
  const ValueId a = m.InPlace({s}, 16), next = m.Call({a, x}, 16);
  const Plan plan = Make(m, m.InPlace({next}, 16), next);
  EXPECT_TRUE(IsInPlace(plan)) << ToString(plan);
  EXPECT_EQ(plan.Root(plan.outputs[0]), plan.outputs[0]);
}

TEST(KeepStates, ViewsAreTheStateToo) {
  Calls m;
  const ValueId x = m.Input(16), s = m.Input(16);
  const ValueId a = m.Call({m.View(s), x}, 16);
  const ValueId next = m.View(m.Call({a}, 16));
  const Plan plan = Make(m, m.Call({next}, 4), next);
  EXPECT_TRUE(IsInPlace(plan)) << ToString(plan);

  Calls late;
  const ValueId y = late.Input(16), t = late.Input(16), view = late.View(t);
  const ValueId made = late.Call({y}, 16);
  EXPECT_TRUE(Make(late, late.Call({made, view}, 16), made).states[0].is_copied);
}

TEST(KeepStates, PartsOfTheNextValueMayBeWrittenWhenTheOldOneHasBeenRead) {
  Calls m;
  const ValueId x = m.Input(16), s = m.Input(16);
  const ValueId next = m.InPlace({s}, 16);  // moves the rest of a window
  m.Part({x}, next);
  EXPECT_TRUE(IsInPlace(Make(m, m.Call({next}, 4), next)));
}

TEST(KeepStates, OneStateThatNothingReads) {
  Calls m;
  const ValueId x = m.Input(16);
  m.Input(16);
  const ValueId next = m.Call({x}, 16);
  EXPECT_TRUE(IsInPlace(Make(m, m.Call({next}, 4), next)));
}

TEST(KeepStates, TwoStatesThatChangePlaces) {
  Calls m;
  const ValueId a = m.Input(16), b = m.Input(16);
  const ValueId next_a = m.Call({b}, 16), next_b = m.Call({a}, 16);
  m.options.states = {{.input = 1, .output = 1, .initial = 0},
                      {.input = 0, .output = 0, .initial = 0}};
  const Plan plan = m.Make({next_a, next_b});
  Memory(plan, /*by_storage=*/false).Run();
  // The first call is the last one that reads b, so the second call puts its result there. The
  // result of the first call is copied.
  EXPECT_FALSE(plan.states[0].is_copied) << ToString(plan);
  EXPECT_TRUE(plan.states[1].is_copied) << ToString(plan);
  EXPECT_TRUE(plan.inputs.empty());
  EXPECT_EQ(plan.pools.back().size_bytes, 128);
}

TEST(KeepStates, TheApplicationGivesItsMemoryWhereItGivesTheOther) {
  Calls m;
  m.options.pools = {{.name = "sram"}};
  m.options.workspace_io = true;
  m.options.alignment_bytes = 16;
  const ValueId x = m.Input(16), s = m.Input(5);
  const Plan plan = Make(m, m.Call({x, s}, 16), m.Call({x}, 5));
  ASSERT_EQ(plan.pools.size(), 2u);
  EXPECT_EQ(plan.pools[1].name, "state");
  EXPECT_TRUE(plan.pools[1].external);
  EXPECT_EQ(plan.pools[1].size_bytes, 32);
  EXPECT_EQ(plan.buffers[static_cast<size_t>(plan.states[0].input)].pool, 1);
}

}  // namespace
}  // namespace kiln
