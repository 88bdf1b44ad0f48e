// SPDX-License-Identifier: Apache-2.0
// Plans in which outputs reach into inputs.
#include <algorithm>
#include <random>

#include "absl/strings/match.h"
#include "compiler/plan/place.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/testing/calls.h"
#include "compiler/plan/testing/memory.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// Allows the overlap for every function.
OverlapFinder Always(loop::Overlap overlap) {
  return [overlap](const Call&, int, int) { return overlap; };
}

int64_t OffsetOf(const Plan& plan, int buffer) {
  return plan.buffers[static_cast<size_t>(buffer)].offset_bytes;
}

TEST(PlanOverlap, AChainMovesDownByTheDistanceOfEachCall) {
  Calls m;
  m.options.workspace_io = true;
  m.options.find_overlap = Always({64, 64});
  ValueId v = m.Input(256);
  for (int i = 0; i < 4; ++i) v = m.Call({v}, 256);
  const Plan plan = m.Make({v});
  EXPECT_EQ(plan.workspace_bytes(), 1024 + 4 * 64) << ToString(plan);
  EXPECT_EQ(plan.lower_bound_bytes, 2048);
  EXPECT_EQ(plan.overlap_saves_bytes, 2048 - plan.workspace_bytes());
  ASSERT_EQ(plan.overlaps.size(), 4u);
  for (const PlanOverlap& o : plan.overlaps) {
    EXPECT_EQ(OffsetOf(plan, o.input) - OffsetOf(plan, o.output), 64);
  }
  EXPECT_TRUE(absl::StrContains(ToString(plan), "outputs that reach into inputs save 768 bytes\n"));
  EXPECT_TRUE(absl::StrContains(ToString(plan), ", reaches into in0\n"));
  Memory(plan, /*by_storage=*/false).Run();
}

// Three calls need more than the minimum, 1024 bytes. One of them overlaps in the plan.
TEST(PlanOverlap, OnlyTheCallsThatNeedIt) {
  Calls m;
  m.options.workspace_io = true;
  std::vector<std::string> asked;
  m.options.find_overlap = [&](const Call& call, int input, int output) {
    asked.push_back(call.function);
    EXPECT_EQ(input, 0);
    EXPECT_EQ(output, 0);
    return loop::Overlap{64, 64};
  };
  const ValueId small = m.Call({m.Input(16)}, 16), large = m.Call({small}, 256);
  const Plan plan = m.Make({m.Call({m.Call({large}, 256)}, 16)});
  EXPECT_EQ(asked, (std::vector<std::string>{"f1", "f2", "f3"}));
  EXPECT_EQ(plan.workspace_bytes(), 1024 + 64) << ToString(plan);
  ASSERT_EQ(plan.overlaps.size(), 1u);
  EXPECT_EQ(plan.overlaps[0].call, 2);
}

// The input is at the end of an output that is twice as large.
TEST(PlanOverlap, AnOutputThatIsLarger) {
  Calls m;
  m.options.workspace_io = true;
  m.options.find_overlap = Always({576, 64});
  const Plan plan = m.Make({m.Call({m.Input(128)}, 256)});
  EXPECT_EQ(plan.workspace_bytes(), 576 + 512) << ToString(plan);
}

TEST(PlanOverlap, NothingWhereAnotherNeedsTheBytes) {
  const auto expect_apart = [](const Plan& plan) {
    EXPECT_TRUE(plan.overlaps.empty()) << ToString(plan);
    EXPECT_EQ(plan.overlap_saves_bytes, 0);
    EXPECT_EQ(plan.workspace_bytes(), plan.lower_bound_bytes);
  };
  {  // A later call reads the input.
    Calls m;
    m.options.workspace_io = true;
    m.options.find_overlap = Always({64, 64});
    const ValueId in = m.Input(64), a = m.Call({in}, 64);
    expect_apart(m.Make({m.Call({in, a}, 16)}));
  }
  {  // The input is the caller's.
    Calls m;
    m.options.find_overlap = Always({64, 64});
    expect_apart(m.Make({m.Call({m.Call({m.Input(64)}, 64)}, 64)}));
  }
  {  // The call reads the input twice, once as a view.
    Calls m;
    m.options.workspace_io = true;
    m.options.find_overlap = Always({64, 64});
    const ValueId in = m.Input(64);
    expect_apart(m.Make({m.Call({in, m.View(in)}, 64)}));
  }
  {  // The function does not allow it.
    Calls m;
    m.options.workspace_io = true;
    m.options.find_overlap = [](const Call&, int, int) { return std::nullopt; };
    expect_apart(m.Make({m.Call({m.Input(64)}, 64)}));
  }
}

TEST(PlanOverlap, RandomModelsNeverLoseAValue) {
  int overlaps = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
    Calls m;
    m.options.workspace_io = true;
    m.options.find_overlap = [&](const Call& call, int, int) -> std::optional<loop::Overlap> {
      const int64_t multiple = call.function.back() % 2 == 0 ? 64 : 192;
      if (call.function.back() % 5 == 0) return std::nullopt;
      return loop::Overlap{multiple, multiple};
    };
    std::vector<ValueId> values = {m.Input(256), m.Input(16)};
    for (int i = 0; i < 12; ++i) {
      const size_t newest = values.size() - 1, other = pick(4) == 0 ? pick(newest) : newest;
      const int64_t scratch = pick(3) == 0 ? 80 : 0;
      values.push_back(m.Call({values[newest], values[other]}, 32 << pick(4), scratch));
    }
    const Plan plan = m.Make({values.back()});
    EXPECT_LE(plan.workspace_bytes(), plan.lower_bound_bytes + 4096);
    overlaps += static_cast<int>(plan.overlaps.size());
    for (const PlanOverlap& o : plan.overlaps) {
      const int64_t distance = OffsetOf(plan, o.input) - OffsetOf(plan, o.output);
      const auto allowed = m.options.find_overlap(plan.calls[static_cast<size_t>(o.call)], 0, 0);
      ASSERT_TRUE(allowed.has_value());
      EXPECT_TRUE(allowed->Allows(distance)) << distance << "\n" << ToString(plan);
    }
    Memory(plan, /*by_storage=*/false).Run();
    Memory(plan, /*by_storage=*/true).Run();
  }
  EXPECT_GT(overlaps, 20);
}

TEST(PlaceOverlaps, BesideOrByTheDistance) {
  // The output has 128 bytes and may begin 64, 128, … bytes before the input, which has 256.
  const std::vector<Lifetime> lifetimes = {{256, 0, 1}, {128, 1, 2}};
  const Placement placement = Place(lifetimes, {{}}, {{.output = 1, .input = 0, .by = {64, 64}}});
  EXPECT_EQ(placement.total_bytes, 64 + 256);
  EXPECT_EQ(placement.offsets[0] - placement.offsets[1], 64);
  EXPECT_TRUE(IsBetter(lifetimes, placement, Place(lifetimes)));
  EXPECT_FALSE(IsBetter(lifetimes, Place(lifetimes), placement));
}

}  // namespace
}  // namespace kiln
