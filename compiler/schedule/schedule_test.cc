// SPDX-License-Identifier: Apache-2.0
// Properties that all schedules share, plain loops, inlining, and kernels without reductions.
#include "compiler/schedule/schedule.h"

#include "absl/strings/match.h"
#include "compiler/loop/math.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

// out = f(in) by element.
Kernel Unary(Shape shape, Expr (*f)(Expr)) {
  const Buffer in = Param("in", kF32, shape), out = Param("out", kF32, shape);
  return {.name = "f",
          .inputs = {in},
          .outputs = {out},
          .constants = {},
          .stages = {Pointwise(out, [&](const Index& i) { return f(MakeLoad(in, i)); })}};
}

Expr Double(Expr x) { return x + x; }

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(Naive, IsPlainLoops) {
  const Buffer in = Param("in", kF32, {2, 3}), sum = Workspace("sum", kF32, {2});
  const Buffer out = Param("out", kF32, {2});
  const Kernel kernel = {
      .name = "f",
      .inputs = {in},
      .outputs = {out},
      .constants = {},
      .stages = {Reduce(sum, {3}, Combine::kSum,
                        [&](const Index& i, const Index& r) { return MakeLoad(in, {i[0], r[0]}); }),
                 Pointwise(out, [&](const Index& i) { return Double(MakeLoad(sum, i)); })}};
  const Scheduled scheduled = Schedule(kernel, VectorTarget(256, 8), {.naive = true});
  EXPECT_EQ(
      Text(scheduled),
      R"(operator f(in: float32[2, 3]) -> (out: float32[2]) workspace workspace: uint8[64] align 64 {
  allocate sum: float32[2] workspace 0 {
    for i0 in 0..2 {
      sum[i0] = 0f32
      for r0 in 0..3 {
        sum[i0] = sum[i0] + in[i0 * 3 + r0]
      }
    }
    for i0_1 in 0..2 {
      let t0 = sum[i0_1]
      out[i0_1] = t0 + t0
    }
  }
}
)");
  EXPECT_EQ(scheduled.description, "naive");
}

// A row that is longer than a page prefetches its data block by block, not all of them first.
TEST(Pointwise, LongRowsAskForTheirDataAsTheyGo) {
  const int64_t length = 131072;
  const Buffer in = Param("in", kF32, {length}), out = Param("out", kF32, {2, length});
  const Kernel kernel = {
      .name = "f",
      .inputs = {in},
      .outputs = {out},
      .constants = {},
      .stages = {Pointwise(out, [&](const Index& i) { return MakeLoad(in, {i[1]}); })}};
  for (const int bits : {128, 512}) {
    const std::string text = Text(Schedule(kernel, VectorTarget(bits)));
    const int prefetches = Count(text, "prefetch");
    EXPECT_GE(prefetches, 2) << text;
    EXPECT_LE(prefetches, 8) << text;
  }
}

TEST(Pointwise, WalksContiguousAxesAsOne) {
  EXPECT_EQ(Text(Schedule(Unary({2, 3, 20}, Double), VectorTarget(256))),
            R"(in_place operator f(in: float32[2, 3, 20]) -> (out: float32[2, 3, 20]) {
  for block in 0..3 {
    for i0 in 0..32 vectorized {
      let t0 = block * 32 + i0
      let t1 = in[t0]
      out[t0] = t1 + t1
    }
  }
  for i0_1 in 0..24 vectorized {
    let t2 = i0_1 + 96
    let t3 = in[t2]
    out[t2] = t3 + t3
  }
}
)");
}

TEST(Pointwise, IsParallelWhereItIsWorthIt) {
  EXPECT_FALSE(
      absl::StrContains(Text(Schedule(Unary({64}, Double), VectorTarget(256, 8))), "parallel"));
  EXPECT_TRUE(absl::StrContains(Text(Schedule(Unary({1 << 22}, Double), VectorTarget(256, 8))),
                                "parallel"));
  EXPECT_FALSE(absl::StrContains(Text(Schedule(Unary({1 << 22}, Double), VectorTarget(256, 1))),
                                 "parallel"));
}

TEST(Pointwise, AsksForLargeDataAhead) {
  const auto ahead = [](const Shape& shape, Target target) {
    target.l2_bytes = 4096;
    const std::string text = Text(Schedule(Unary(shape, Double), target));
    EXPECT_EQ(absl::StrContains(text, "prefetch in["), absl::StrContains(text, "prefetch out["));
    return absl::StrContains(text, "prefetch in[");
  };
  EXPECT_TRUE(ahead({1000}, VectorTarget(256)));
  // Data that stay in the L2 cache are not prefetched, and neither are data on machines without
  // caches.
  EXPECT_FALSE(ahead({500}, VectorTarget(256)));
  Target firmware = VectorTarget(128);
  firmware.SetBaremetal();
  EXPECT_FALSE(ahead({1000}, firmware));
  // Data that do not change along the innermost axis are not prefetched.
  const Buffer in = Param("in", kF32, {900, 3}), column = Param("column", kF32, {900, 1});
  const Buffer out = Param("out", kF32, {900, 3});
  const Kernel kernel = {.name = "f",
                         .inputs = {in, column},
                         .outputs = {out},
                         .constants = {},
                         .stages = {Pointwise(out, [&](const Index& i) {
                           return MakeLoad(in, i) * MakeLoad(column, {i[0], Expr(0)});
                         })}};
  Target target = VectorTarget(256);
  target.l2_bytes = 4096;
  const std::string text = Text(Schedule(kernel, target));
  EXPECT_TRUE(absl::StrContains(text, "prefetch in[")) << text;
  EXPECT_FALSE(absl::StrContains(text, "prefetch column[")) << text;
  ExpectLikeNaive(kernel, target);
}

TEST(Pointwise, EveryShapeStoresEveryBit) {
  for (const Target& target : AllTargets()) {
    for (int64_t extent : {1, 2, 3, 7, 8, 15, 16, 31, 33, 100}) {
      ExpectLikeNaive(Unary({extent}, Double), target);
      ExpectLikeNaive(Unary({3, extent}, loop::Exp), target);
      ExpectLikeNaive(Unary({extent, 2, 1}, loop::Tanh), target);
    }
    ExpectLikeNaive(Unary({}, Double), target);
  }
}

TEST(Pointwise, MovesAndBroadcastsToo) {
  const Buffer in = Param("in", kF32, {4, 5, 17}), row = Param("row", kF32, {1, 17});
  const Buffer out = Param("out", kF32, {17, 5, 4});
  const Kernel kernel = {.name = "f",
                         .inputs = {in, row},
                         .outputs = {out},
                         .constants = {},
                         .stages = {Pointwise(out, [&](const Index& i) {
                           return MakeLoad(in, {i[2], i[1], i[0]}) * MakeLoad(row, {Expr(0), i[0]});
                         })}};
  for (const Target& target : AllTargets()) ExpectLikeNaive(kernel, target);
}

// Doubles pairs of numbers. The two halves of the pairs are apart in the output.
Kernel HalvesApart(int64_t rows) {
  const Buffer in = Param("in", kF32, {rows, 2}), out = Param("out", kF32, {2, rows});
  loop::Stage stage = Pointwise(Param("pairs", kF32, {rows, 2}),
                                [&](const Index& i) { return Double(MakeLoad(in, i)); });
  stage.buffer = out;
  stage.index = {stage.axes[1].var, stage.axes[0].var};
  return {.name = "f", .inputs = {in}, .outputs = {out}, .constants = {}, .stages = {stage}};
}

TEST(Pointwise, VectorsGoAlongNeighborsOfTheOutput) {
  const auto has_vector_of_rows = [](const Target& target) {
    const std::string text = Text(Schedule(HalvesApart(24), target));
    return absl::StrContains(text, "0..24 vectorized");
  };
  EXPECT_TRUE(has_vector_of_rows(VectorTarget(128)));
  EXPECT_FALSE(has_vector_of_rows(*Target::Parse("cortex-m4")));
  for (const Target& target : AllTargets()) ExpectLikeNaive(HalvesApart(24), target);
}

// Stages of `sizes` elements. Each element is the sum of two elements of the stage before. The last
// stage is the output.
Kernel Chain(const Shape& sizes) {
  Kernel kernel = {
      .name = "f", .inputs = {Param("in", kF32, {64})}, .outputs = {}, .constants = {}};
  Buffer before = kernel.inputs[0];
  for (size_t k = 0; k < sizes.size(); ++k) {
    const bool is_last = k + 1 == sizes.size();
    const std::string name = absl::StrCat("s", k);
    const Buffer buffer =
        is_last ? Param("out", kF32, {sizes[k]}) : Workspace(name, kF32, {sizes[k]});
    kernel.stages.push_back(Pointwise(buffer, [&](const Index& i) {
      const Expr size = before->shape[0];
      return MakeLoad(before, {i[0] % size}) + MakeLoad(before, {(i[0] + Expr(1)) % size});
    }));
    before = buffer;
  }
  kernel.outputs = {before};
  return kernel;
}

int64_t WorkspaceBytes(const Kernel& kernel) {
  const Scheduled scheduled = Schedule(kernel, VectorTarget(256));
  return scheduled.func.workspace == nullptr ? 0 : scheduled.func.workspace->num_bytes();
}

TEST(Workspace, BuffersThatAreUsedNoMoreAreTakenAgain) {
  EXPECT_EQ(WorkspaceBytes(Chain({64, 64, 64})), 2 * 256);
  EXPECT_EQ(WorkspaceBytes(Chain({64, 64, 64, 64, 64, 64})), 2 * 256);
  // The buffer of 32 elements has its own memory, and the third buffer takes that of the first.
  EXPECT_EQ(WorkspaceBytes(Chain({64, 32, 64, 64})), 256 + 128);
  for (const Target& target : AllTargets()) ExpectLikeNaive(Chain({64, 64, 64, 64, 64}), target);
}

// A place may occur twice, and the places are read until the end, so the output is not written over
// them.
TEST(Update, StoresInOrderAndNotOverItsPlaces) {
  const DType int32 = DType::Int(32);
  const Buffer data = Param("data", int32, {8}), places = Param("places", int32, {8});
  const Buffer out = Param("out", int32, {8});
  loop::Stage update = Pointwise(out, [&](const Index& i) { return MakeLoad(out, i); });
  const Expr place = loop::ToIndex(MakeLoad(places, {update.axes[0].var}));
  update.index = {loop::Max(loop::Min(place, Expr(7)), Expr(0))};
  update.value = MakeLoad(out, update.index) + loop::MakeCast(int32, update.axes[0].var);
  update.update = true;
  const Kernel kernel = {
      .name = "f",
      .inputs = {data, places},
      .outputs = {out},
      .constants = {},
      .stages = {Pointwise(out, [&](const Index& i) { return MakeLoad(data, i); }), update}};
  for (const Target& target : AllTargets()) ExpectLikeNaive(kernel, target);
  const std::vector<std::pair<int, int>> only_data = {{0, 0}};
  EXPECT_EQ(Schedule(kernel, VectorTarget(256)).in_place, only_data);
}

TEST(Schedule, NothingToComputeIsNoCode) {
  EXPECT_EQ(Text(Schedule(Unary({0, 3}, Double), VectorTarget(256))),
            "in_place operator f(in: float32[0, 3]) -> (out: float32[0, 3]) {\n}\n");
}

TEST(Schedule, ConstantsThatNothingReadsAreLeftOut) {
  Kernel kernel = Unary({4}, Double);
  kernel.constants.push_back(MakeConstant("unread", kF32, {4}));
  EXPECT_TRUE(Schedule(kernel, VectorTarget(256)).constants.empty());
}

// Two stages: `inner` is in the workspace, and every element of the output reads it `times` times.
Kernel TwoStages(int times, Expr (*f)(Expr)) {
  const Buffer in = Param("in", kF32, {8}), inner = Workspace("inner", kF32, {8});
  const Buffer out = Param("out", kF32, {8});
  return {.name = "f",
          .inputs = {in},
          .outputs = {out},
          .constants = {},
          .stages = {Pointwise(inner, [&](const Index& i) { return f(MakeLoad(in, i)); }),
                     Pointwise(out, [&](const Index& i) {
                       Expr sum = MakeLoad(inner, i);
                       for (int k = 1; k < times; ++k) {
                         sum = sum + MakeLoad(inner, {(i[0] + Expr(k)) % Expr(8)});
                       }
                       return sum;
                     })}};
}

TEST(Inline, WhatIsReadOnceIsComputedThere) {
  for (Expr (*f)(Expr) : {Double, loop::Exp}) {
    const Kernel kernel = TwoStages(1, f);
    EXPECT_FALSE(absl::StrContains(Text(Schedule(kernel, VectorTarget(256))), "inner"));
    for (const Target& target : AllTargets()) ExpectLikeNaive(kernel, target);
  }
}

TEST(Inline, WhatIsReadOftenIsStoredUnlessItIsCheap) {
  const Kernel cheap = TwoStages(2, Double), costly = TwoStages(8, loop::Exp);
  EXPECT_FALSE(absl::StrContains(Text(Schedule(cheap, VectorTarget(256))), "inner"));
  const Scheduled scheduled = Schedule(costly, VectorTarget(256));
  EXPECT_TRUE(absl::StrContains(Text(scheduled), "allocate inner: float32[8] workspace 0 {"));
  ASSERT_NE(scheduled.func.workspace, nullptr);
  EXPECT_EQ(scheduled.func.workspace->num_bytes(), 64);
  for (const Target& target : AllTargets()) {
    ExpectLikeNaive(cheap, target);
    ExpectLikeNaive(costly, target);
  }
}

TEST(Inline, OutputsAreStored) {
  Kernel kernel = TwoStages(1, Double);
  const Buffer first = Param("first", kF32, {8});
  kernel.stages[0].buffer = first;
  kernel.stages[1] =
      Pointwise(kernel.outputs[0], [&](const Index& i) { return MakeLoad(first, i); });
  kernel.outputs.insert(kernel.outputs.begin(), first);
  EXPECT_EQ(Count(Text(Schedule(kernel, VectorTarget(256))), "first["), 2);
  for (const Target& target : AllTargets()) ExpectLikeNaive(kernel, target);
}

TEST(Inline, ACopyOfAWholeBufferIsThatBuffer) {
  const Buffer in = Param("in", kF32, {8, 4}), sums = Workspace("sums", kF32, {8});
  const Buffer a = Param("a", kF32, {8}), b = Param("b", kF32, {8}), c = Param("c", kF32, {8});
  const auto copy = [&](const Buffer& to) {
    return Pointwise(to, [&](const Index& i) { return MakeLoad(sums, i); });
  };
  // Two copies, and a third one that reverses the order.
  const Kernel kernel{
      .name = "f",
      .inputs = {in},
      .outputs = {a, b, c},
      .constants = {},
      .stages = {Reduce(sums, {4}, loop::Combine::kSum,
                        [&](const Index& i, const Index& r) { return MakeLoad(in, {i[0], r[0]}); }),
                 copy(a), copy(b),
                 Pointwise(c, [&](const Index& i) { return MakeLoad(sums, {Expr(7) - i[0]}); })}};
  EXPECT_FALSE(absl::StrContains(Text(Schedule(kernel, VectorTarget(256))), "sums"));
  for (const Target& target : AllTargets()) ExpectLikeNaive(kernel, target, 1e-5);
}

using Pairs = std::vector<std::pair<int, int>>;

Pairs InPlace(const Kernel& kernel) { return Schedule(kernel, VectorTarget(256)).in_place; }

Kernel Binary(DType dtype, Shape b_shape,
              const std::function<Expr(const Buffer&, const Buffer&, const Index&)>& f) {
  const Buffer a = Param("a", kF32, {4, 8}), b = Param("b", dtype, std::move(b_shape));
  const Buffer out = Param("out", kF32, {4, 8});
  return {.name = "f",
          .inputs = {a, b},
          .outputs = {out},
          .constants = {},
          .stages = {Pointwise(out, [&](const Index& i) { return f(a, b, i); })}};
}

TEST(InPlace, WhereEveryElementIsReadAtItsOwnPlace) {
  EXPECT_EQ(InPlace(Binary(kF32, {4, 8},
                           [](const Buffer& a, const Buffer& b, const Index& i) {
                             return MakeLoad(a, i) + MakeLoad(b, i);
                           })),
            (Pairs{{0, 0}, {1, 0}}));
  // The same bytes in another shape.
  EXPECT_EQ(InPlace(Binary(kF32, {32},
                           [](const Buffer& a, const Buffer& b, const Index& i) {
                             return MakeLoad(a, i) + MakeLoad(b, {i[0] * Expr(8) + i[1]});
                           })),
            (Pairs{{0, 0}, {1, 0}}));
  // An argument that is not read may be overwritten.
  EXPECT_EQ(InPlace(Binary(kF32, {4, 8},
                           [](const Buffer& a, const Buffer&, const Index& i) {
                             return MakeLoad(a, i) + loop::Const(kF32, 1);
                           })),
            (Pairs{{0, 0}, {1, 0}}));
}

TEST(InPlace, NotWhereAnElementIsReadElsewhere) {
  // Broadcast, moved, another dtype.
  EXPECT_EQ(InPlace(Binary(kF32, {8},
                           [](const Buffer& a, const Buffer& b, const Index& i) {
                             return MakeLoad(a, i) + MakeLoad(b, {i[1]});
                           })),
            (Pairs{{0, 0}}));
  EXPECT_EQ(InPlace(Binary(kF32, {8, 4},
                           [](const Buffer& a, const Buffer& b, const Index& i) {
                             return MakeLoad(a, i) + MakeLoad(b, {i[1], i[0]});
                           })),
            (Pairs{{0, 0}}));
  EXPECT_EQ(InPlace(Binary(kF32, {4, 8},
                           [](const Buffer& a, const Buffer& b, const Index& i) {
                             return MakeLoad(a, i) + MakeLoad(b, {i[0], Expr(7) - i[1]});
                           })),
            (Pairs{{0, 0}}));
  EXPECT_EQ(InPlace(Binary(DType::Int(32), {4, 8},
                           [](const Buffer& a, const Buffer& b, const Index& i) {
                             return MakeLoad(a, i) + loop::MakeCast(kF32, MakeLoad(b, i));
                           })),
            (Pairs{{0, 0}}));
}

TEST(InPlace, NotWhereAnotherStageReadsTheArgument) {
  EXPECT_EQ(InPlace(TwoStages(1, Double)), (Pairs{{0, 0}}));
  // The first stage reads the argument and stores `inner`. The second stage stores the output.
  EXPECT_EQ(InPlace(TwoStages(8, loop::Exp)), Pairs{});
}

}  // namespace
}  // namespace kiln::schedule
