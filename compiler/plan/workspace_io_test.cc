// SPDX-License-Identifier: Apache-2.0
// Plans with the inputs and outputs of the model in the pools.
#include "compiler/plan/plan.h"
#include "compiler/plan/testing/calls.h"
#include "compiler/plan/testing/memory.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(WorkspaceIo, InputsLiveFromTheStartAndOutputsToTheEnd) {
  Calls m;
  m.options.workspace_io = true;
  const ValueId in = m.Input(16), other = m.Input(32), a = m.Call({in}, 16), b = m.Call({a}, 64);
  const Plan plan = m.Make({m.Call({b, other}, 1), b});
  EXPECT_TRUE(plan.workspace_io);
  for (const PlanBuffer& buffer : plan.buffers) EXPECT_EQ(buffer.pool, 0) << ToString(plan);
  // In the second call, its argument, its result and the second input are alive.
  EXPECT_EQ(plan.lower_bound_bytes, 128 + 64 + 256);
  EXPECT_EQ(plan.workspace_bytes(), plan.lower_bound_bytes);
  Memory(plan, /*by_storage=*/false).Run();
}

TEST(WorkspaceIo, AnOutputTakesTheMemoryOfADeadInput) {
  Calls m;
  m.options.workspace_io = true;
  const ValueId a = m.Call({m.Input(64)}, 16);
  const Plan plan = m.Make({m.Call({a}, 64)});
  EXPECT_EQ(plan.workspace_bytes(), 256 + 64);
  EXPECT_EQ(plan.buffers[static_cast<size_t>(plan.inputs[0])].offset_bytes,
            plan.buffers[static_cast<size_t>(plan.outputs[0])].offset_bytes);
}

TEST(WorkspaceIo, ResultsTakeThePlaceOfInputsAndOutputsThatOfArguments) {
  Calls m;
  m.options.workspace_io = true;
  const ValueId a = m.InPlace({m.Input(16)}, 16);
  // The model's output is a view of a result, which may overwrite its argument too.
  const Plan plan = m.Make({m.View(m.InPlace({a}, 16))});
  EXPECT_EQ(plan.workspace_bytes(), 64);
  for (const PlanCall& call : plan.calls) {
    EXPECT_EQ(plan.Root(call.args.back()), plan.inputs[0]) << ToString(plan);
  }
}

TEST(WorkspaceIo, NothingIsWrittenOverAnOutput) {
  Calls m;
  m.options.workspace_io = true;
  // The first result is an output in the memory of the input. The second call may not overwrite it.
  const ValueId a = m.InPlace({m.Input(16)}, 16), b = m.InPlace({a}, 16);
  const Plan plan = m.Make({a, b});
  EXPECT_EQ(plan.Root(plan.outputs[0]), plan.inputs[0]);
  EXPECT_EQ(plan.Root(plan.outputs[1]), plan.outputs[1]);
  EXPECT_EQ(plan.workspace_bytes(), 128);
  Memory(plan, /*by_storage=*/false).Run();
}

// Inputs are written before the first call, so no two of them share memory. The memory of an input
// that no call reads is reused.
TEST(WorkspaceIo, AnInputThatNoCallReadsIsOverwrittenByTheFirst) {
  Calls m;
  m.options.workspace_io = true;
  const ValueId in = m.Input(16);
  m.Input(256);
  const Plan plan = m.Make({m.Call({m.Call({in}, 128)}, 16)});
  const PlanBuffer& used = plan.buffers[static_cast<size_t>(plan.inputs[0])];
  const PlanBuffer& unused = plan.buffers[static_cast<size_t>(plan.inputs[1])];
  EXPECT_EQ(plan.workspace_bytes(), 64 + 1024);
  EXPECT_TRUE(used.offset_bytes >= unused.offset_bytes + unused.bytes() ||
              unused.offset_bytes >= used.offset_bytes + used.bytes());
  Memory(plan, /*by_storage=*/false).Run();
}

TEST(WorkspaceIo, TensorsWithoutElementsAndPools) {
  Calls m;
  m.options = {.alignment_bytes = 16,
               .pools = {{.name = "fast", .limit_bytes = 64, .speed = 2}, {.name = "slow"}},
               .workspace_io = true};
  m.Input(0);
  const ValueId a = m.Call({m.Input(64)}, 16);
  const Plan plan = m.Make({m.Call({a}, 8), m.Call({a}, 0)});
  EXPECT_EQ(plan.buffers[static_cast<size_t>(plan.inputs[0])].pool, -1);
  EXPECT_EQ(plan.buffers[static_cast<size_t>(plan.inputs[1])].pool, 1);
  EXPECT_EQ(plan.pools[0].size_bytes, 64);
  EXPECT_EQ(plan.pools[1].size_bytes, 256);
}

}  // namespace
}  // namespace kiln
