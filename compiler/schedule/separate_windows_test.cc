// SPDX-License-Identifier: Apache-2.0
// Windows that are reduced one axis at a time.
#include "absl/strings/match.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr char kByAxes[] = "reduction by axes";

// Windows of `taps` over data in channels-last layout, padded with zeros so that extents stay the
// same. If `halved`, a stage after them halves each value.
struct Pool {
  Shape taps = {5, 5};
  Combine combine = Combine::kMax;
  DType dtype = kF32;
  int64_t channels = 8;
  int64_t stride = 1;
  bool halved = false;
};

Kernel Pooled(const Pool& pool, int64_t extent = 9) {
  const int64_t places = (extent - 1) / pool.stride + 1;
  const Shape shape = {1, places, places, pool.channels};
  const Buffer x = Param("x", pool.dtype, {1, extent, extent, pool.channels});
  const Buffer out = Param("out", pool.dtype, shape);
  const Buffer sums = pool.halved ? Workspace("pool", pool.dtype, shape) : out;
  Kernel kernel{.name = "f", .inputs = {x}, .outputs = {out}, .constants = {}, .stages = {}};
  kernel.stages.push_back(
      Reduce(sums, pool.taps, pool.combine, [&](const Index& i, const Index& r) {
        const auto place = [&](size_t axis) {
          return i[axis + 1] * Expr(pool.stride) + r[axis] - Expr(pool.taps[axis] / 2);
        };
        const auto clamped = [&](const Expr& at) {
          return loop::Max(loop::Min(at, Expr(extent - 1)), 0);
        };
        const Expr inside =
            place(0) >= 0 && place(0) < Expr(extent) && place(1) >= 0 && place(1) < Expr(extent);
        return MakeSelect(inside, MakeLoad(x, {i[0], clamped(place(0)), clamped(place(1)), i[3]}),
                          loop::Const(pool.dtype, 0));
      }));
  if (pool.halved) {
    kernel.stages.push_back(Pointwise(
        out, [&](const Index& i) { return MakeLoad(sums, i) / loop::Const(pool.dtype, 2); }));
  }
  return kernel;
}

TEST(SeparateWindows, GiveTheSameBits) {
  for (const Target& target : AllTargets()) {
    for (const Combine combine : {Combine::kMax, Combine::kMin}) {
      for (const Shape& taps : {Shape{5, 5}, {9, 9}, {13, 13}, {4, 9}, {17, 5}}) {
        for (int64_t channels : {1, 8, 35}) {
          for (bool halved : {false, true}) {
            const Pool pool = {
                .taps = taps, .combine = combine, .channels = channels, .halved = halved};
            SCOPED_TRACE(testing::Message() << target.vector_bits << " bits, " << taps[0] << "x"
                                            << taps[1] << ", " << channels << " channels");
            EXPECT_EQ(Schedule(Pooled(pool), target).description, kByAxes);
            ExpectLikeNaive(Pooled(pool), target);
          }
        }
      }
    }
  }
}

TEST(SeparateWindows, SumsOfIntegersAreExact) {
  for (const Target& target : AllTargets()) {
    for (const DType dtype : {DType::Int(32), DType::Int(16)}) {
      const Pool pool = {.combine = Combine::kSum, .dtype = dtype, .halved = true};
      EXPECT_EQ(Schedule(Pooled(pool), target).description, kByAxes);
      ExpectLikeNaive(Pooled(pool), target);
    }
  }
}

TEST(SeparateWindows, SumsOfFloatsKeepTheirOrder) {
  EXPECT_EQ(Schedule(Pooled({.combine = Combine::kSum}), VectorTarget(256)).description,
            "reduction");
}

// 5 + 5 terms instead of 25: row values at 13 places, each of 5 taps, and windows of 5 rows.
TEST(SeparateWindows, ReadRowsOfValues) {
  const Scheduled scheduled = Schedule(Pooled({}, 9), VectorTarget(256));
  EXPECT_TRUE(absl::StrContains(Text(scheduled), "allocate out_rows: float32[1, 13, 9, 8]"))
      << Text(scheduled);
}

TEST(SeparateWindows, OnlyWhereThatGains) {
  const Target target = VectorTarget(256);
  EXPECT_EQ(Schedule(Pooled({.taps = {3, 3}}), target).description, "reduction");
  EXPECT_EQ(Schedule(Pooled({.taps = {9, 1}}), target).description, "reduction");
  EXPECT_EQ(Schedule(Pooled({.taps = {9, 9}, .stride = 3}), target).description, "reduction");
  // Firmware is short of memory.
  const Scheduled firmware = Schedule(Pooled({}), Target::Parse("cortex-m4f").value());
  EXPECT_EQ(firmware.description, "reduction");
  EXPECT_EQ(firmware.func.workspace, nullptr);
}

TEST(SeparateWindows, OfThreeAxesOneByOne) {
  const Buffer x = Param("x", kF32, {14, 14, 14, 8}), out = Param("out", kF32, {10, 10, 10, 8});
  const Kernel kernel = {
      .name = "f",
      .inputs = {x},
      .outputs = {out},
      .constants = {},
      .stages = {Reduce(out, {5, 5, 5}, Combine::kMax, [&](const Index& i, const Index& r) {
        return MakeLoad(x, {i[0] + r[0], i[1] + r[1], i[2] + r[2], i[3]});
      })}};
  for (const Target& target : AllTargets()) {
    const Scheduled scheduled = Schedule(kernel, target);
    EXPECT_TRUE(absl::StrContains(Text(scheduled), "allocate out_rows_1")) << Text(scheduled);
    ExpectLikeNaive(kernel, target);
  }
}

TEST(SeparateWindows, ThreadsShareBothParts) {
  const std::string text = Text(Schedule(Pooled({.channels = 256}, 20), VectorTarget(256, 8)));
  EXPECT_NE(text.find("parallel"), text.rfind("parallel")) << text;
}

}  // namespace
}  // namespace kiln::schedule
