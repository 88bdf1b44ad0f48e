// SPDX-License-Identifier: Apache-2.0
// The first layer of a model whose data are channels-first.
#include "absl/strings/match.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr int64_t kHeight = 9, kWidth = 20, kOutputs = 16;
constexpr double kTolerance = 1e-5;

// out[h, w, o] = the 3x3 convolution with stride 2 of x[channel, h, w], padded with zeros.
Kernel FirstLayer(int64_t channels) {
  const Buffer x = Param("x", kF32, {channels, kHeight, kWidth});
  const Buffer padded = Workspace("padded", kF32, {kHeight + 2, kWidth + 2, channels});
  const Buffer out = Param("out", kF32, {5, 10, kOutputs});
  const loop::Constant w = MakeSmallConstant("w", {3, 3, channels, kOutputs});
  Kernel kernel{.name = "f", .inputs = {x}, .outputs = {out}, .constants = {w}, .stages = {}};
  kernel.stages.push_back(Pointwise(padded, [&](const Index& i) {
    const Expr row = i[0] - Expr(1), column = i[1] - Expr(1);
    const auto clamped = [](const Expr& e, int64_t extent) {
      return loop::Max(loop::Min(e, Expr(extent - 1)), Expr(0));
    };
    return loop::MakeSelect(
        row >= Expr(0) && row < Expr(kHeight) && column >= Expr(0) && column < Expr(kWidth),
        MakeLoad(x, {i[2], clamped(row, kHeight), clamped(column, kWidth)}), loop::Const(kF32, 0));
  }));
  kernel.stages.push_back(
      Reduce(out, {3, 3, channels}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeLoad(padded, {i[0] * Expr(2) + r[0], i[1] * Expr(2) + r[1], r[2]}) *
               MakeLoad(w.buffer, {r[0], r[1], r[2], i[2]});
      }));
  return kernel;
}

// Lines of the planes stay contiguous.
TEST(Planes, FewAreNotInterleaved) {
  for (const int64_t channels : {2, 3, 4}) {
    for (const Target& target : AllTargets())
      ExpectLikeNaive(FirstLayer(channels), target, kTolerance);
  }
  EXPECT_TRUE(absl::StrContains(Text(Schedule(FirstLayer(3), VectorTarget(512))),
                                "allocate padded: float32[11, 3, 22]"));
  EXPECT_TRUE(absl::StrContains(Text(Schedule(FirstLayer(8), VectorTarget(512))),
                                "allocate padded: float32[11, 22, 8]"));
}

// Planes are interleaved if products use lanes of a vector of a row, whose elements are contiguous.
TEST(Planes, RowsAreVectorsOnAArch64) {
  Target target = VectorTarget(128);
  target.triple = "aarch64-unknown-linux-gnu";
  ASSERT_TRUE(target.broadcasts_lanes());
  EXPECT_TRUE(absl::StrContains(Text(Schedule(FirstLayer(3), target)),
                                "allocate padded: float32[11, 22, 3]"));
}

}  // namespace
}  // namespace kiln::schedule
