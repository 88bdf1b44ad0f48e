// SPDX-License-Identifier: Apache-2.0
// Selection and sorting.
#include <cstdint>
#include <string>
#include <tuple>

#include "absl/strings/match.h"
#include "compiler/loop/pipeline.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

using Key = std::function<Expr(const Expr&)>;

Expr Itself(const Expr& x) { return x; }

// Returns the places of the first `ranks` keys of each row of `places` elements, along the middle
// axis of [outer, places, inner].
Kernel OfRows(int64_t outer, int64_t places, int64_t inner, int64_t ranks, DType dtype,
              const Key& key = Itself) {
  const Buffer in = Param("in", dtype, {outer, places, inner}),
               order = Workspace("order", DType::Int(32), {outer, ranks, inner}),
               out = Param("out", DType::Int(32), {outer, ranks, inner});
  loop::Stage stage = Reduce(order, {places}, Combine::kSum, [&](const Index& i, const Index& r) {
    return key(MakeLoad(in, {i[0], r[0], i[2]}));
  });
  stage.combine = Combine::kNone;
  stage.init = {};
  stage.rank_axis = 1;
  return {.name = "f",
          .inputs = {in},
          .outputs = {out},
          .constants = {},
          .stages = {stage, Pointwise(out, [&](const Index& i) { return MakeLoad(order, i); })}};
}

// Maps many numbers to the smallest and to the largest one of the type.
Expr Extreme(const Expr& x) {
  const loop::Type type = x.type();
  const auto is = [&](int64_t rest) {
    return x % loop::IntConst(type, 3) == loop::IntConst(type, rest);
  };
  return loop::MakeSelect(is(0), loop::IntConst(type, type.dtype.MinInt()),
                          loop::MakeSelect(is(1), loop::IntConst(type, type.dtype.MaxInt()), x));
}

// Maps different elements to different keys.
Expr Spread(const Expr& x) { return x * loop::IntConst(x.type(), -1640531527); }

TEST(Ranks, AsManyAsAreWantedOfAnyNumberOfPlaces) {
  for (const Target& target : AllTargets()) {
    for (int64_t places : {1, 2, 5, 8, 9, 17, 32, 33, 64, 65, 100, 129, 300}) {
      for (int64_t ranks : {int64_t{1}, int64_t{2}, places / 3, places}) {
        if (ranks < 1 || ranks > places) continue;
        SCOPED_TRACE(testing::Message()
                     << target.vector_bits << " bits, " << ranks << " of " << places);
        ExpectLikeNaive(OfRows(2, places, 1, ranks, DType::Int(32)), target);
      }
    }
  }
}

TEST(Ranks, KeysOfAllSizesAndBothEnds) {
  for (const Target& target : AllTargets()) {
    for (const DType dtype : {DType::Int(32), DType::Int(64)}) {
      for (int64_t ranks : {1, 20, 120, 200}) {
        SCOPED_TRACE(testing::Message()
                     << target.vector_bits << " bits, " << dtype.ToString() << ", " << ranks);
        ExpectLikeNaive(OfRows(1, 200, 1, ranks, dtype, Extreme), target);
        ExpectLikeNaive(OfRows(1, 200, 1, ranks, dtype, Spread), target);
      }
    }
  }
}

// If very few ranks are wanted, most groups of neighbors are not inspected.
TEST(Ranks, GroupsOfNeighbors) {
  const Key keys[] = {Itself, Spread, Extreme};
  for (const Target& target : AllTargets()) {
    for (int64_t places : {64, 95, 320, 500}) {
      for (int64_t ranks : {1, 5, 7}) {
        if (places / 32 < 2 * ranks) continue;
        for (const Key& key : keys) {
          SCOPED_TRACE(testing::Message()
                       << target.vector_bits << " bits, " << ranks << " of " << places);
          const Kernel kernel = OfRows(1, places, 1, ranks, DType::Int(32), key);
          ExpectLikeNaive(kernel, target);
          EXPECT_TRUE(absl::StrContains(Text(Schedule(kernel, target)), "minima"));
        }
      }
    }
  }
  EXPECT_FALSE(absl::StrContains(
      Text(Schedule(OfRows(1, 8400, 1, 300, DType::Int(32)), VectorTarget(256))), "minima"));
}

TEST(Ranks, AlongAnyAxis) {
  for (const Target& target : AllTargets()) {
    ExpectLikeNaive(OfRows(3, 70, 5, 6, DType::Int(32)), target);
    ExpectLikeNaive(OfRows(3, 70, 5, 70, DType::Int(32)), target);
    ExpectLikeNaive(OfRows(1, 70, 4, 3, DType::Int(64), Spread), target);
  }
}

TEST(Ranks, NoneIsWanted) {
  for (const Target& target : AllTargets()) {
    ExpectLikeNaive(OfRows(2, 70, 1, 0, DType::Int(32)), target);
    ExpectLikeNaive(OfRows(2, 0, 1, 0, DType::Int(32)), target);
  }
}

TEST(Ranks, SelectsWhereFewAreWanted) {
  const auto description = [](int64_t places, int64_t ranks) {
    return Schedule(OfRows(1, places, 1, ranks, DType::Int(32)), VectorTarget(256)).description;
  };
  EXPECT_EQ(description(500, 5), "selection");
  EXPECT_EQ(description(8400, 300), "selection");
  EXPECT_EQ(description(8, 2), "sort");
  EXPECT_EQ(description(500, 400), "sort");
  EXPECT_EQ(description(500, 500), "sort");
}

// Threads share the rows, and each part has scratch memory of its own.
TEST(Ranks, ThreadsShareRows) {
  const Kernel many = OfRows(64, 1000, 1, 4, DType::Int(32), Spread);
  const Target target = VectorTarget(256, /*cores=*/8);
  EXPECT_TRUE(absl::StrContains(Text(Schedule(many, target)), "parallel"));
  EXPECT_FALSE(absl::StrContains(Text(Schedule(many, VectorTarget(256))), "parallel"));
  EXPECT_FALSE(
      absl::StrContains(Text(Schedule(OfRows(2, 100, 1, 4, DType::Int(32)), target)), "parallel"));
  for (int64_t rows : {33, 64, 65}) {
    ExpectLikeNaive(OfRows(rows, 300, 1, 4, DType::Int(32), Spread), target);
  }
}

// The text for code generators does not grow with the number of places or ranks.
TEST(Ranks, TheCodeIsSmall) {
  for (const Target& target : AllTargets()) {
    for (const auto& [places, ranks] : {std::tuple<int64_t, int64_t>{500, 5},
                                        {8400, 300},
                                        {100'000, 20'000},
                                        {8400, 8400},
                                        {1 << 20, 1 << 20}}) {
      const Scheduled scheduled = Schedule(OfRows(1, places, 1, ranks, DType::Int(32)), target);
      loop::LoopProgram program;
      program.funcs.push_back(scheduled.func);
      ASSERT_EQ(loop::RunLoopPasses(loop::LoopPhase::kCode, {},
                                    {.vector_bits = loop::AllOf(target.vector_bits)}, program),
                absl::OkStatus());
      EXPECT_LT(ToString(program).size(), 20'000u)
          << target.vector_bits << " bits, " << ranks << " of " << places;
    }
  }
}

// Firmware has no memory to spare: it has the keys of one row, and the few pairs that are sorted.
TEST(Ranks, ScratchMemoryIsOfWhatIsSorted) {
  Target firmware = VectorTarget(0);
  firmware.SetBaremetal();
  const Scheduled scheduled = Schedule(OfRows(4, 1000, 1, 5, DType::Int(32)), firmware);
  ASSERT_NE(scheduled.func.workspace, nullptr);
  EXPECT_LE(scheduled.func.workspace->num_bytes(), 4 * 1000 + 400);
}

}  // namespace
}  // namespace kiln::schedule
