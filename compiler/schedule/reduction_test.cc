// SPDX-License-Identifier: Apache-2.0
// Softmax, pooling, depthwise convolution and similar reductions.
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "compiler/loop/math.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr double kTolerance = 1e-5;

// Reduces the last axis.
Kernel OfRows(Combine combine, DType dtype, int64_t rows, int64_t columns) {
  const Buffer in = Param("in", dtype, {rows, columns}), out = Param("out", dtype, {rows});
  return {.name = "f",
          .inputs = {in},
          .outputs = {out},
          .constants = {},
          .stages = {Reduce(out, {columns}, combine, [&](const Index& i, const Index& r) {
            return MakeLoad(in, {i[0], r[0]});
          })}};
}

// Reduces the first axis.
Kernel OfColumns(Combine combine, int64_t rows, int64_t columns) {
  const Buffer in = Param("in", kF32, {rows, columns}), out = Param("out", kF32, {columns});
  return {.name = "f",
          .inputs = {in},
          .outputs = {out},
          .constants = {},
          .stages = {Reduce(out, {rows}, combine, [&](const Index& i, const Index& r) {
            return MakeLoad(in, {r[0], i[0]});
          })}};
}

TEST(Reduction, EveryExtentAndOperator) {
  for (const Target& target : AllTargets()) {
    for (Combine combine : {Combine::kSum, Combine::kMax, Combine::kMin, Combine::kProd}) {
      for (int64_t extent : {1, 2, 5, 8, 31, 32, 33, 100}) {
        SCOPED_TRACE(testing::Message() << target.vector_bits << " bits, " << extent);
        ExpectLikeNaive(OfRows(combine, DType::Int(32), 3, extent), target);
        ExpectLikeNaive(OfColumns(combine, 3, extent), target, kTolerance);
      }
      ExpectLikeNaive(OfRows(combine, kF32, 3, 37), target, kTolerance);
    }
  }
}

TEST(Reduction, KeepsSeveralAccumulators) {
  const Scheduled rows = Schedule(OfRows(Combine::kSum, kF32, 3, 100), VectorTarget(256));
  EXPECT_EQ(rows.description, "reduction");
  // Four vectors of eight, combined pairwise at the end.
  EXPECT_TRUE(absl::StrContains(Text(rows), "allocate out_acc: float32[32]")) << Text(rows);
  EXPECT_TRUE(absl::StrContains(Text(rows), "out_acc[lane_3 + 16]")) << Text(rows);
  // Data are contiguous along the columns, so that no lanes are combined.
  const Scheduled columns = Schedule(OfColumns(Combine::kSum, 100, 32), VectorTarget(256));
  EXPECT_TRUE(absl::StrContains(Text(columns), "allocate out_acc: float32[32]"));
  EXPECT_TRUE(absl::StrContains(Text(columns), "in[r0 * 32 + lane_1]")) << Text(columns);
}

// One vector of columns has four sums, which do not wait for each other.
TEST(Reduction, NarrowColumnsHaveSeveralSums) {
  const Scheduled narrow = Schedule(OfColumns(Combine::kMax, 101, 8), VectorTarget(256));
  const auto count = [](const Scheduled& scheduled) {
    const std::vector<std::string> parts =
        absl::StrSplit(Text(scheduled), absl::ByString("allocate out_acc"));
    return parts.size() - 1;
  };
  EXPECT_EQ(count(narrow), 4u) << Text(narrow);
  // 25 steps of four, and one more.
  EXPECT_TRUE(absl::StrContains(Text(narrow), "for step in 0..25")) << Text(narrow);
  EXPECT_EQ(count(Schedule(OfColumns(Combine::kMax, 101, 32), VectorTarget(256))), 1u);
  EXPECT_EQ(count(Schedule(OfColumns(Combine::kMax, 15, 8), VectorTarget(256))), 1u);
  for (const Target& target : AllTargets()) {
    for (Combine combine : {Combine::kSum, Combine::kMax}) {
      for (int64_t rows : {15, 16, 17, 67, 101}) {
        ExpectLikeNaive(OfColumns(combine, rows, 8), target, kTolerance);
        ExpectLikeNaive(OfColumns(combine, rows, 20), target, kTolerance);
      }
    }
  }
}

// GCC 12 miscompiles lanes that are unrolled and then added to each other.
TEST(Reduction, LanesStayALoopInGeneratedC) {
  const Kernel kernel = OfRows(Combine::kSum, kF32, 3, 40);
  Target target = VectorTarget(0);
  EXPECT_FALSE(absl::StrContains(Text(Schedule(kernel, target)), "vectorized"));
  target.by_c_compiler = true;
  const std::string text = Text(Schedule(kernel, target));
  EXPECT_TRUE(absl::StrContains(text, "in 0..4 vectorized")) << text;
  ExpectLikeNaive(kernel, target, kTolerance);
}

TEST(Reduction, OfEverythingToAScalar) {
  const Buffer in = Param("in", kF32, {3, 5, 7}), out = Param("out", kF32, {});
  const Kernel kernel = {
      .name = "f",
      .inputs = {in},
      .outputs = {out},
      .constants = {},
      .stages = {Reduce(out, {3, 5, 7}, Combine::kSum,
                        [&](const Index&, const Index& r) { return MakeLoad(in, r); })}};
  for (const Target& target : AllTargets()) ExpectLikeNaive(kernel, target, 1e-4);
}

// out = exp(in - max) / sum, in four stages over `rows`.
Kernel Softmax(int64_t rows, int64_t columns) {
  const Shape shape = {rows, columns};
  const Buffer in = Param("in", kF32, shape), out = Param("out", kF32, shape);
  const Buffer max = Workspace("max", kF32, {rows}), exp = Workspace("exp", kF32, shape);
  const Buffer sum = Workspace("sum", kF32, {rows});
  return {.name = "f",
          .inputs = {in},
          .outputs = {out},
          .constants = {},
          .stages = {
              Reduce(max, {columns}, Combine::kMax,
                     [&](const Index& i, const Index& r) { return MakeLoad(in, {i[0], r[0]}); }),
              Pointwise(exp,
                        [&](const Index& i) {
                          return loop::Exp(MakeLoad(in, i) - MakeLoad(max, {i[0]}));
                        }),
              Reduce(sum, {columns}, Combine::kSum,
                     [&](const Index& i, const Index& r) { return MakeLoad(exp, {i[0], r[0]}); }),
              Pointwise(out,
                        [&](const Index& i) { return MakeLoad(exp, i) / MakeLoad(sum, {i[0]}); })}};
}

TEST(Reduction, StagesShareTheLoopsOverTheirRows) {
  const Scheduled scheduled = Schedule(Softmax(4, 20), VectorTarget(256));
  EXPECT_EQ(scheduled.func.workspace, nullptr);
  const std::string text = Text(scheduled);
  EXPECT_TRUE(absl::StrContains(text, "allocate exp: float32[20] {")) << text;
  EXPECT_EQ(text.find("for i0 in 0..4"), text.rfind("for i0 in 0..4")) << text;
  for (const Target& target : AllTargets()) {
    for (int64_t columns : {1, 7, 8, 33}) ExpectLikeNaive(Softmax(3, columns), target, kTolerance);
  }
}

TEST(Reduction, RowsThatAreTooLongForTheStackGoToTheWorkspace) {
  const Kernel kernel = Softmax(2, 10000);
  const Scheduled scheduled = Schedule(kernel, VectorTarget(256));
  ASSERT_NE(scheduled.func.workspace, nullptr);
  EXPECT_GE(scheduled.func.workspace->num_bytes(), 2 * 10000 * 4);
  EXPECT_FALSE(absl::StrContains(Text(scheduled), "allocate exp: float32[10000] {"));
  ExpectLikeNaive(kernel, VectorTarget(256), kTolerance);
}

TEST(Reduction, TheStackOfFirmwareIsShort) {
  const Target target = Target::Parse("cortex-m4f").value();
  EXPECT_EQ(Schedule(Softmax(2, 20), target).func.workspace, nullptr);
  const Kernel kernel = Softmax(2, 500);
  const Scheduled scheduled = Schedule(kernel, target);
  ASSERT_NE(scheduled.func.workspace, nullptr);
  EXPECT_GE(scheduled.func.workspace->num_bytes(), 500 * 4);
  ExpectLikeNaive(kernel, target, kTolerance);
}

TEST(Reduction, RowsAreSharedAmongThreads) {
  EXPECT_TRUE(absl::StrContains(Text(Schedule(Softmax(256, 1000), VectorTarget(256, 8))),
                                "for i0 in 0..256 parallel {"));
  EXPECT_FALSE(
      absl::StrContains(Text(Schedule(Softmax(256, 1000), VectorTarget(256))), "parallel"));
  EXPECT_FALSE(absl::StrContains(Text(Schedule(Softmax(2, 4), VectorTarget(256, 8))), "parallel"));
}

// Max-pooling and depthwise convolution in channels-last layout.
Kernel Windows(int64_t channels, bool weighted) {
  const Buffer x = Param("x", kF32, {6, 6, channels}), out = Param("out", kF32, {4, 4, channels});
  const loop::Constant w = MakeSmallConstant("w", {channels, 3, 3});
  Kernel kernel{.name = "f", .inputs = {x}, .outputs = {out}, .constants = {}, .stages = {}};
  if (weighted) kernel.constants = {w};
  kernel.stages.push_back(Reduce(
      out, {3, 3}, weighted ? Combine::kSum : Combine::kMax, [&](const Index& i, const Index& r) {
        const Expr value = MakeLoad(x, {i[0] + r[0], i[1] + r[1], i[2]});
        return weighted ? value * MakeLoad(w.buffer, {i[2], r[0], r[1]}) : value;
      }));
  return kernel;
}

TEST(Reduction, WindowsRunAlongTheChannels) {
  for (const Target& target : AllTargets()) {
    for (int64_t channels : {1, 3, 8, 32, 35}) {
      SCOPED_TRACE(testing::Message() << target.vector_bits << " bits, " << channels);
      ExpectLikeNaive(Windows(channels, false), target);
      ExpectLikeNaive(Windows(channels, true), target, kTolerance);
    }
  }
  EXPECT_TRUE(absl::StrContains(Text(Schedule(Windows(8, true), VectorTarget(256))), "fma("));
  EXPECT_FALSE(absl::StrContains(Text(Schedule(Windows(8, true), VectorTarget(128))), "fma("));
}

// Windows of size x size. A stage before them pads the data, and a stage after them copies the
// results.
Kernel PaddedWindows(int64_t extent, int64_t channels, int64_t stride, bool weighted,
                     int64_t size = 3) {
  const int64_t border = size / 2;
  const int64_t places = (extent + 2 * border - size) / stride + 1;
  const Buffer x = Param("x", kF32, {extent, extent, channels});
  const Buffer pad = Workspace("pad", kF32, {extent + 2 * border, extent + 2 * border, channels});
  const Buffer pool = Workspace("pool", kF32, {places, places, channels});
  const Buffer out = Param("out", kF32, {places, places, channels});
  const loop::Constant w = MakeSmallConstant("w", {channels, size, size});
  Kernel kernel{.name = "f", .inputs = {x}, .outputs = {out}, .constants = {}, .stages = {}};
  if (weighted) kernel.constants = {w};
  kernel.stages.push_back(Pointwise(pad, [&](const Index& i) {
    const auto at = [&](const Expr& place) {
      return loop::Max(loop::Min(place - Expr(border), Expr(extent - 1)), 0);
    };
    const Expr begin = Expr(border), end = Expr(extent + border);
    const Expr inside = i[0] >= begin && i[0] < end && i[1] >= begin && i[1] < end;
    return MakeSelect(inside, MakeLoad(x, {at(i[0]), at(i[1]), i[2]}),
                      loop::Const(kF32, weighted ? 0 : -1e30));
  }));
  kernel.stages.push_back(
      Reduce(pool, {size, size}, weighted ? Combine::kSum : Combine::kMax,
             [&](const Index& i, const Index& r) {
               const Expr value =
                   MakeLoad(pad, {i[0] * Expr(stride) + r[0], i[1] * Expr(stride) + r[1], i[2]});
               return weighted ? value * MakeLoad(w.buffer, {i[2], r[0], r[1]}) : value;
             }));
  kernel.stages.push_back(Pointwise(out, [&](const Index& i) { return MakeLoad(pool, i); }));
  return kernel;
}

TEST(Reduction, ReadsPaddedDataWhereItIs) {
  for (const Target& target : AllTargets()) {
    for (int64_t stride : {1, 2}) {
      for (int64_t channels : {1, 8, 35}) {
        for (bool weighted : {false, true}) {
          SCOPED_TRACE(testing::Message() << target.vector_bits << " bits, stride " << stride
                                          << ", " << channels << " channels");
          const Kernel kernel = PaddedWindows(7, channels, stride, weighted);
          ExpectLikeNaive(kernel, target, weighted ? kTolerance : 0);
        }
      }
    }
  }
  // There is no padded copy, and sums are not copied to the output.
  const Scheduled scheduled = Schedule(PaddedWindows(56, 32, 1, true), VectorTarget(256));
  EXPECT_EQ(scheduled.func.workspace, nullptr) << Text(scheduled);
  EXPECT_FALSE(absl::StrContains(Text(scheduled), "pool")) << Text(scheduled);
  // If all of a window is data, there is no test for padding.
  EXPECT_TRUE(absl::StrContains(Text(scheduled), "fma(x[")) << Text(scheduled);
}

// Returns the number of occurrences of `part` in `text`.
int64_t Count(absl::string_view text, absl::string_view part) {
  return static_cast<int64_t>(std::vector<absl::string_view>(absl::StrSplit(text, part)).size()) -
         1;
}

TEST(Reduction, WindowsOfTwoRowsShareWhatTheyLoad) {
  // Without padding, there is one tile of 2 x 4 windows with 9 products each.
  const Buffer x = Param("x", kF32, {10, 10, 16}), out = Param("out", kF32, {8, 8, 16});
  const loop::Constant w = MakeSmallConstant("w", {16, 3, 3});
  const Kernel kernel = {
      .name = "f",
      .inputs = {x},
      .outputs = {out},
      .constants = {w},
      .stages = {Reduce(out, {3, 3}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeLoad(x, {i[0] + r[0], i[1] + r[1], i[2]}) *
               MakeLoad(w.buffer, {i[2], r[0], r[1]});
      })}};
  Target target = VectorTarget(512);
  EXPECT_EQ(Count(Text(Schedule(kernel, target)), "fma("), 2 * 4 * 9);
  // With few registers, or if threads need the rows, a tile has one row.
  EXPECT_EQ(Count(Text(Schedule(kernel, VectorTarget(256))), "fma("), 4 * 9);
  target.cores = 8;
  EXPECT_EQ(Count(Text(Schedule(kernel, target)), "fma("), 4 * 9);
  // If there are several rows and places, the last tiles are smaller.
  for (int64_t extent : {7, 9}) {
    for (int64_t stride : {1, 2}) {
      for (bool weighted : {false, true}) {
        SCOPED_TRACE(testing::Message() << extent << " by " << stride);
        ExpectLikeNaive(PaddedWindows(extent, 20, stride, weighted), VectorTarget(512),
                        weighted ? kTolerance : 0);
      }
    }
  }
}

// Tiles have 8, 8 and 6 of 22 places. Their sums are in registers while 5 taps of a row of the
// window are added. The sums run in the order of plain loops.
TEST(Reduction, LongWindowsShareWhatTheyLoad) {
  const Scheduled scheduled = Schedule(PaddedWindows(22, 48, 1, true, 5), VectorTarget(512));
  const std::string text = Text(scheduled);
  EXPECT_EQ(scheduled.description, "reduction");
  EXPECT_TRUE(absl::StrContains(text, "_acc_7: float32[16]")) << text;
  EXPECT_FALSE(absl::StrContains(text, "_acc: float32[64]")) << text;
  // With few registers, the lanes of one place fill them.
  EXPECT_TRUE(absl::StrContains(
      Text(Schedule(PaddedWindows(22, 48, 1, true, 5), VectorTarget(256))), "_acc: float32[32]"));
  for (const int cores : {1, 4}) {
    for (const auto& [extent, channels, stride, size] : {std::array<int64_t, 4>{22, 48, 1, 5},
                                                         {9, 35, 1, 5},
                                                         {12, 16, 2, 5},
                                                         {17, 20, 1, 9},
                                                         {11, 16, 1, 11},
                                                         {5, 16, 1, 5}}) {
      for (bool weighted : {false, true}) {
        SCOPED_TRACE(testing::Message() << extent << "x" << channels << ", " << size << "x" << size
                                        << " by " << stride);
        ExpectLikeNaive(PaddedWindows(extent, channels, stride, weighted, size),
                        VectorTarget(512, cores), weighted ? kTolerance : 0);
      }
    }
  }
}

// A window of one row: 31 taps, 8 at a time.
TEST(Reduction, LongWindowsAlongOneAxis) {
  for (int64_t taps : {17, 31, 32}) {
    const Buffer x = Param("x", kF32, {40 + taps, 24}), out = Param("out", kF32, {41, 24});
    const loop::Constant w = MakeSmallConstant("w", {taps, 24});
    const Kernel kernel = {
        .name = "f",
        .inputs = {x},
        .outputs = {out},
        .constants = {w},
        .stages = {Reduce(out, {taps}, Combine::kSum, [&](const Index& i, const Index& r) {
          return MakeLoad(x, {i[0] + r[0], i[1]}) * MakeLoad(w.buffer, {r[0], i[1]});
        })}};
    EXPECT_TRUE(absl::StrContains(Text(Schedule(kernel, VectorTarget(512))), "out_acc_6"));
    ExpectLikeNaive(kernel, VectorTarget(512), kTolerance);
  }
}

TEST(Reduction, LaysConstantsOutForItsLoops) {
  const Scheduled scheduled = Schedule(Windows(8, true), VectorTarget(256));
  EXPECT_EQ(scheduled.description, "reduction");
  ASSERT_EQ(scheduled.constants.size(), 1u);
  EXPECT_EQ(scheduled.constants[0].buffer->shape, (Shape{3, 3, 8}));
  // The original constant is w[channel, h, w].
  EXPECT_EQ(scheduled.constants[0].tensor.AsDouble(0), SmallValue(0));
  EXPECT_EQ(scheduled.constants[0].tensor.AsDouble(1), SmallValue(9));
  EXPECT_EQ(scheduled.constants[0].tensor.AsDouble(8), SmallValue(1));
}

}  // namespace
}  // namespace kiln::schedule
