// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/plan.h"

#include <algorithm>
#include <random>

#include "absl/strings/match.h"
#include "compiler/plan/testing/calls.h"
#include "compiler/plan/testing/memory.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(Plan, ChainAlternatesBetweenTwoPlaces) {
  Calls m;
  ValueId v = m.Input(16);
  for (int i = 0; i < 5; ++i) v = m.Call({v}, 16);
  const Plan plan = m.Make({v});
  EXPECT_EQ(plan.workspace_bytes(), 128);
  EXPECT_EQ(plan.lower_bound_bytes, 128);
  EXPECT_NE(OutputOf(plan, 0).offset_bytes, OutputOf(plan, 1).offset_bytes);
  EXPECT_EQ(OutputOf(plan, 0).offset_bytes, OutputOf(plan, 2).offset_bytes);
  EXPECT_EQ(OutputOf(plan, 1).first_call, 1);
  EXPECT_EQ(OutputOf(plan, 1).last_call, 2);
}

TEST(Plan, OffsetsAreAligned) {
  Calls m;
  const ValueId in = m.Input(1), a = m.Call({in}, 1), b = m.Call({in}, 17), c = m.Call({in}, 3);
  const Plan plan = m.Make({m.Call({a, b, c}, 1)});
  EXPECT_EQ(plan.pools.at(0).alignment_bytes, 64);
  for (const PlanBuffer& buffer : plan.buffers) EXPECT_EQ(buffer.offset_bytes % 64, 0);
  // 4, 68 and 12 bytes take 64, 128 and 64.
  EXPECT_EQ(plan.workspace_bytes(), 256);
}

TEST(Plan, NothingBetweenTheCallsIsNoWorkspace) {
  Calls m;
  const Plan plan = m.Make({m.Call({m.Input(16)}, 16)});
  EXPECT_EQ(plan.workspace_bytes(), 0);
  EXPECT_EQ(plan.lower_bound_bytes, 0);
  EXPECT_TRUE(absl::StartsWith(ToString(plan),
                               "workspace 0 bytes, lower bound 0 bytes (nothing to place)\n"))
      << ToString(plan);
}

TEST(Plan, ScratchLivesInItsCallAlone) {
  Calls m;
  const ValueId a = m.Call({m.Input(16)}, 16), b = m.Call({a}, 16, /*scratch_bytes=*/100);
  const Plan plan = m.Make({m.Call({b}, 16)});
  const PlanBuffer& scratch = plan.buffers[static_cast<size_t>(plan.calls[1].scratch)];
  EXPECT_EQ(scratch.kind, PlanBufferKind::kScratch);
  EXPECT_EQ(scratch.bytes(), 100);
  EXPECT_EQ(scratch.first_call, 1);
  EXPECT_EQ(scratch.last_call, 1);
  EXPECT_EQ(plan.workspace_bytes(), 64 + 64 + 128);
  EXPECT_EQ(plan.calls[0].scratch, -1);
}

TEST(Plan, InPlaceWhereTheArgumentIsNeededNoMore) {
  Calls m;
  const ValueId a = m.Call({m.Input(16)}, 16), b = m.InPlace({a}, 16);
  const Plan plan = m.Make({m.Call({b}, 16)});
  EXPECT_EQ(OutputOf(plan, 1).alias_of, plan.calls[0].args.back());
  EXPECT_FALSE(OutputOf(plan, 1).is_view);
  EXPECT_EQ(plan.workspace_bytes(), 64);
  // The owner lives as long as the result that takes its memory.
  EXPECT_EQ(OutputOf(plan, 0).last_call, 2);
}

TEST(Plan, InPlaceOverAViewAndAlongAChain) {
  Calls m;
  const ValueId a = m.Call({m.Input(16)}, 16);
  const ValueId b = m.InPlace({m.View(a)}, 16), c = m.InPlace({m.View(b)}, 16);
  const Plan plan = m.Make({m.Call({c}, 16)});
  EXPECT_EQ(plan.workspace_bytes(), 64);
  EXPECT_EQ(plan.Root(plan.calls[4].args.back()), plan.calls[0].args.back());
}

// Expects that the output of call `c`, which may work in place, has memory of its own.
void ExpectOwnMemory(const Plan& plan, size_t c) {
  EXPECT_EQ(OutputOf(plan, c).alias_of, -1) << ToString(plan);
}

TEST(Plan, NotInPlaceWhereItWouldBeSeen) {
  {  // A later call reads the argument.
    Calls m;
    const ValueId a = m.Call({m.Input(16)}, 16), b = m.InPlace({a}, 16);
    ExpectOwnMemory(m.Make({m.Call({a, b}, 16)}), 1);
  }
  {  // A later call reads a view of the argument.
    Calls m;
    const ValueId a = m.Call({m.Input(16)}, 16), view = m.View(a), b = m.InPlace({a}, 16);
    ExpectOwnMemory(m.Make({m.Call({view, b}, 16)}), 2);
  }
  {  // The argument is the caller's.
    Calls m;
    const ValueId a = m.InPlace({m.Input(16)}, 16);
    ExpectOwnMemory(m.Make({m.Call({a}, 16)}), 0);
  }
  {  // The argument is an output of the model.
    Calls m;
    const ValueId a = m.Call({m.Input(16)}, 16), b = m.InPlace({a}, 16);
    ExpectOwnMemory(m.Make({a, m.Call({b}, 16)}), 1);
  }
  {  // The result is the caller's.
    Calls m;
    const ValueId a = m.Call({m.Input(16)}, 16);
    ExpectOwnMemory(m.Make({m.InPlace({a}, 16)}), 1);
  }
  {  // The call reads the argument twice, once as a view.
    Calls m;
    const ValueId a = m.Call({m.Input(16)}, 16), b = m.InPlace({a, m.View(a)}, 16);
    ExpectOwnMemory(m.Make({m.Call({b}, 16)}), 2);
  }
  {  // The result is larger.
    Calls m;
    const ValueId a = m.Call({m.Input(16)}, 16), b = m.InPlace({a}, 17);
    ExpectOwnMemory(m.Make({m.Call({b}, 16)}), 1);
  }
  {  // The function does not allow it.
    Calls m;
    const ValueId a = m.Call({m.Input(16)}, 16), b = m.Call({a}, 16);
    ExpectOwnMemory(m.Make({m.Call({b}, 16)}), 1);
  }
}

TEST(Plan, OutputsAreWrittenStraightIntoTheCallersMemory) {
  Calls m;
  const ValueId a = m.Call({m.Input(16)}, 16), view = m.View(a);
  const Plan plan = m.Make({view});
  const PlanBuffer& computed = OutputOf(plan, 0);
  EXPECT_EQ(computed.alias_of, plan.outputs[0]);
  EXPECT_EQ(plan.buffers[static_cast<size_t>(plan.outputs[0])].kind, PlanBufferKind::kOutput);
  EXPECT_EQ(plan.buffers[static_cast<size_t>(plan.outputs[0])].alias_of, -1);
  EXPECT_EQ(plan.workspace_bytes(), 0);
}

TEST(Plan, SeveralOutputsOneOfThemReadAgain) {
  Calls m;
  const ValueId a = m.Call({m.Input(16)}, 16), b = m.Call({a}, 8), c = m.Call({a, b}, 4);
  const Plan plan = m.Make({b, a, c});
  ASSERT_EQ(plan.outputs.size(), 3u);
  const int64_t sizes[] = {32, 64, 16};
  for (size_t i = 0; i < 3; ++i) {
    const PlanBuffer& output = plan.buffers[static_cast<size_t>(plan.outputs[i])];
    EXPECT_EQ(output.kind, PlanBufferKind::kOutput);
    EXPECT_EQ(output.io_index, static_cast<int>(i));
    EXPECT_EQ(output.name, "output" + std::to_string(i));
    EXPECT_EQ(output.bytes(), sizes[i]);
    EXPECT_EQ(output.pool, -1);
    EXPECT_EQ(output.last_call, 3);
  }
  EXPECT_EQ(plan.workspace_bytes(), 0);
}

TEST(Plan, ABufferOfSeveralCallsLivesFromTheFirstOn) {
  Calls m;
  const ValueId in = m.Input(16), whole = m.Call({in}, 16), other = m.Call({in}, 16);
  m.Part({other}, whole);
  const Plan plan = m.Make({m.InPlace({whole}, 16)});
  ASSERT_EQ(plan.buffers.size(), 4u);
  EXPECT_EQ(plan.calls[0].args[1], plan.calls[2].args[1]);
  EXPECT_EQ(OutputOf(plan, 0).first_call, 0);
  EXPECT_EQ(OutputOf(plan, 0).last_call, 3);
  EXPECT_EQ(plan.workspace_bytes(), 2 * 64);
}

// CopyOutputs adds calls that make such outputs. Without it they are mistakes.
TEST(Plan, RefusesOutputsThatNoCallMakes) {
  {
    Calls m;
    const ValueId in = m.Input(16);
    EXPECT_EQ(m.TryPlan({in}).status().code(), absl::StatusCode::kInternal);
  }
  {
    Calls m;
    const ValueId view = m.View(m.Input(16));
    EXPECT_EQ(m.TryPlan({view}).status().code(), absl::StatusCode::kInternal);
  }
  {
    Calls m;
    const ValueId a = m.Call({m.Input(16)}, 16);
    EXPECT_EQ(m.TryPlan({a, a}).status().code(), absl::StatusCode::kInternal);
  }
  {
    Calls m;
    const ValueId a = m.Call({m.Input(16)}, 16), view = m.View(a);
    EXPECT_EQ(m.TryPlan({a, view}).status().code(), absl::StatusCode::kInternal);
  }
  {  // The call that makes the output is missing.
    Calls m;
    m.Input(16);
    const ValueId a = m.Call({99}, 16);
    EXPECT_EQ(m.TryPlan({a}).status().code(), absl::StatusCode::kInternal);
  }
}

TEST(Plan, TensorsWithoutElementsTakeNoMemory) {
  Calls m;
  const ValueId a = m.Call({m.Input(0)}, 0);
  const Plan plan = m.Make({m.Call({a}, 0)});
  EXPECT_EQ(plan.workspace_bytes(), 0);
}

int AliasedOutputs(const Plan& plan) {
  return static_cast<int>(std::count_if(plan.outputs.begin(), plan.outputs.end(), [&](int id) {
    return plan.buffers[static_cast<size_t>(id)].alias_of >= 0;
  }));
}

TEST(Plan, RandomModelsNeverLoseAValue) {
  int aliased = 0, aliased_io = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
    Calls m;
    std::vector<ValueId> values = {m.Input(4), m.Input(8)};
    std::vector<bool> viewed = {true, true};  // these values cannot be outputs
    std::vector<ValueId> outputs;
    for (int i = 0; i < 12; ++i) {
      const size_t a = pick(values.size()), b = pick(values.size());
      if (pick(4) == 0) {
        values.push_back(m.View(values[a]));
        viewed[a] = true;
        viewed.push_back(true);
        continue;
      }
      const int64_t scratch = pick(3) == 0 ? 80 : 0;
      std::vector<std::pair<int, int>> in_place;
      if (pick(3) > 0) in_place = {{0, 0}, {1, 0}};
      values.push_back(m.Call({values[a], values[b]}, 4 << pick(3), scratch, in_place));
      viewed.push_back(false);
      if (pick(5) == 0) {
        outputs.push_back(values.back());
        viewed.back() = true;
      }
    }
    outputs.push_back(m.Call({values.back()}, 4));
    const Plan plan = m.Make(outputs);
    SCOPED_TRACE(seed);
    Memory(plan, /*by_storage=*/false).Run();
    Memory(plan, /*by_storage=*/true).Run();
    m.options.workspace_io = true;
    const Plan with_io = m.Make(outputs);
    Memory(with_io, /*by_storage=*/false).Run();
    aliased_io += AliasedOutputs(with_io);
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_GE(plan.workspace_bytes(), plan.lower_bound_bytes);
    for (const PlanBuffer& buffer : plan.buffers) {
      aliased += buffer.alias_of >= 0 && !buffer.is_view ? 1 : 0;
      if (buffer.pool < 0) continue;
      EXPECT_LE(buffer.offset_bytes + buffer.bytes(), plan.workspace_bytes());
    }
  }
  EXPECT_GT(aliased, 50);
  EXPECT_GT(aliased_io, 10);
}

TEST(Plan, BuffersGoIntoTheApplicationsPools) {
  Calls m;
  const ValueId in = m.Input(16), a = m.Call({in}, 16), b = m.Call({a, a, a}, 64);
  m.options = {.alignment_bytes = 16,
               .pools = {{.name = "slow"},
                         {.name = "fast", .limit_bytes = 100, .alignment_bytes = 32, .speed = 2}}};
  const Plan plan = m.Make({m.Call({a, b}, 1)});
  ASSERT_EQ(plan.pools.size(), 2u);
  EXPECT_EQ(plan.pools[0].size_bytes, 256);
  EXPECT_EQ(plan.pools[0].alignment_bytes, 16);
  EXPECT_EQ(plan.pools[1].size_bytes, 64);
  EXPECT_EQ(plan.pools[1].alignment_bytes, 32);
  EXPECT_TRUE(plan.pools[1].external);
  // `a` has more reads per byte.
  EXPECT_EQ(OutputOf(plan, 0).pool, 1);
  EXPECT_EQ(OutputOf(plan, 1).pool, 0);
  EXPECT_EQ(plan.workspace_bytes(), 320);
  EXPECT_EQ(plan.lower_bound_bytes, 320);
  EXPECT_EQ(plan.pools[0].lower_bound_bytes, 256);
  EXPECT_EQ(plan.pools[1].lower_bound_bytes, 64);
  EXPECT_TRUE(
      absl::StrContains(ToString(plan), "pool fast: 64 bytes of 100, aligned to 32, speed 2\n"))
      << ToString(plan);
}

TEST(Plan, PoolsThatAreTooSmallSayByHowMuchAndWhatHasNoPlace) {
  Calls m;
  const ValueId in = m.Input(16), a = m.Call({in}, 16), b = m.Call({in}, 256);
  m.options.pools = {{.name = "sram", .limit_bytes = 512}};
  EXPECT_EQ(
      m.TryPlan({m.Call({a, b}, 16)}).status().message(),
      "the pools ('sram' 512 bytes) are too small: 'sram' would do with 1088 bytes, 576 more; "
      "buffers of 1024 bytes have no place: 't2' (1024 "
      "bytes, Tensor[(256,), float32], calls 1 to 2); at most 1088 bytes are alive at once, "
      "and the pools have 512; --emit=plan shows the calls by their numbers");
}

// Among several pools the slowest has to be larger, because it takes the buffers that do not fit
// elsewhere.
TEST(Plan, PoolsThatAreTooSmallSayWhatWouldDo) {
  Calls m;
  const ValueId in = m.Input(16), a = m.Call({in}, 64), b = m.Call({in}, 256);
  const ValueId out = m.Call({a, b}, 16);
  m.options.pools = {{.name = "sram", .limit_bytes = 512},
                     {.name = "tcm", .limit_bytes = 256, .speed = 4}};
  const std::string message(m.TryPlan({out}).status().message());
  EXPECT_TRUE(absl::StrContains(message, "'sram' would do with 1024 bytes, 512 more;")) << message;
  m.options.pools[0].limit_bytes = 1024;
  EXPECT_TRUE(m.TryPlan({out}).ok());
  m.options.pools[0].limit_bytes = 1023;
  EXPECT_FALSE(m.TryPlan({out}).ok());
}

}  // namespace
}  // namespace kiln
