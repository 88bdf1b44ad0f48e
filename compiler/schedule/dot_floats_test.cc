// SPDX-License-Identifier: Apache-2.0
// Sums of products of float32 by constants, computed as products of bfloat16 if these are allowed.
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/schedule/testing/dot_machines.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

const ScheduleOptions kAllowed = {.bfloat16_products = true};
constexpr char kName[] = " vdpbf16ps";
// Sums of float32 are added in another order.
constexpr double kTolerance = 1e-4;

std::vector<Target> Machines() {
  std::vector<Target> machines;
  for (const int bits : {128, 256, 512}) {
    machines.push_back(
        WithFeatures(bits, "x86_64-pc-linux-gnu", "+avx512bw,+avx512vl,+avx512bf16"));
  }
  return machines;
}

// Data that are rounded before they are multiplied, so that rounding them again changes nothing.
// The constants have at most 8 bits.
Expr Rounded(const Expr& x) { return loop::MakeCast(kF32, loop::MakeCast(DType::BFloat(), x)); }

Kernel Dense(int64_t batch, int64_t m, int64_t k, int64_t n, bool constant = true) {
  const Buffer x = Param("x", kF32, {batch, m, k}), out = Param("out", kF32, {batch, m, n});
  const loop::Constant w = MakeSmallConstant("w", {batch, n, k});
  const Buffer y = constant ? w.buffer : Param("y", kF32, {batch, n, k});
  Kernel kernel{.name = "f",
                .inputs = {x},
                .outputs = {out},
                .constants = {},
                .stages = {Reduce(out, {k}, Combine::kSum, [&](const Index& i, const Index& r) {
                  return Rounded(MakeLoad(x, {i[0], i[1], r[0]})) * MakeLoad(y, {i[0], i[2], r[0]});
                })}};
  if (constant) kernel.constants = {w};
  if (!constant) kernel.inputs.push_back(y);
  return kernel;
}

// A 3 x 3 convolution of data [height, width, channels], padded with 7s, plus a residual.
Kernel Convolution(int64_t height, int64_t width, int64_t channels, int64_t outputs) {
  const Buffer x = Param("x", kF32, {height, width, channels}),
               residual = Param("residual", kF32, {height, width, outputs}),
               padded = Workspace("pad", kF32, {height + 2, width + 2, channels}),
               sum = Workspace("sum", kF32, {height, width, outputs}),
               out = Param("out", kF32, {height, width, outputs});
  const loop::Constant w = MakeSmallConstant("w", {3, 3, channels, outputs});
  Kernel kernel{
      .name = "f", .inputs = {x, residual}, .outputs = {out}, .constants = {w}, .stages = {}};
  kernel.stages.push_back(Pad(x, padded, 1));
  kernel.stages.push_back(
      Reduce(sum, {3, 3, channels}, Combine::kSum, [&](const Index& i, const Index& r) {
        return Rounded(MakeLoad(padded, {i[0] + r[0], i[1] + r[1], r[2]})) *
               MakeLoad(w.buffer, {r[0], r[1], r[2], i[2]});
      }));
  kernel.stages.push_back(
      Pointwise(out, [&](const Index& i) { return MakeLoad(sum, i) + MakeLoad(residual, i); }));
  return kernel;
}

std::string DescriptionOf(const Kernel& kernel, const Target& target,
                          const ScheduleOptions& options = kAllowed) {
  return Schedule(kernel, target, options).description;
}

TEST(DotFloats, MultiplyCopiedRows) {
  for (const Target& target : Machines()) {
    for (const auto& [batch, m, k, n] : {std::tuple{1, 1, 64, 40},
                                         {1, 5, 11, 33},
                                         {1, 30, 16, 16},
                                         {3, 13, 36, 20},
                                         {1, 1, 25088, 8}}) {
      SCOPED_TRACE(absl::StrCat(target.vector_bits, ": ", batch, " of ", m, "x", k, "x", n));
      const Kernel kernel = Dense(batch, m, k, n);
      const std::string description = DescriptionOf(kernel, target);
      EXPECT_TRUE(absl::EndsWith(description, absl::StrCat(kName, " copied rows"))) << description;
      ExpectLikeNaive(kernel, target, kTolerance, kAllowed);
    }
  }
}

TEST(DotFloats, MultiplyStoredRows) {
  for (const Target& target : Machines()) {
    for (const auto& [channels, outputs] : {std::pair{3, 16}, {8, 20}, {16, 33}}) {
      const Kernel kernel = Convolution(6, 7, channels, outputs);
      const std::string description = DescriptionOf(kernel, target);
      EXPECT_TRUE(absl::EndsWith(description, absl::StrCat(kName, " stored rows"))) << description;
      ExpectLikeNaive(kernel, target, kTolerance, kAllowed);
    }
  }
}

// Matrix registers compute batches, too. The padding is computed with the rows of a tile.
TEST(DotFloats, MultiplyInMatrices) {
  const Target target = WithFeatures(512, "x86_64-pc-linux-gnu",
                                     "+avx512bw,+avx512vl,+avx512bf16,+amx-tile,+amx-bf16");
  for (const auto& [batch, m, k, n] :
       {std::tuple{1, 30, 64, 32}, {1, 70, 90, 130}, {3, 40, 64, 33}, {1, 64, 1600, 96}}) {
    SCOPED_TRACE(absl::StrCat(batch, " of ", m, "x", k, "x", n));
    const Kernel kernel = Dense(batch, m, k, n);
    const std::string description = DescriptionOf(kernel, target);
    EXPECT_TRUE(absl::StrContains(description, " tdpbf16ps ")) << description;
    EXPECT_FALSE(absl::StrContains(description, "of float32")) << description;
    ExpectLikeNaive(kernel, target, kTolerance, kAllowed);
  }
  const Kernel kernel = Convolution(6, 7, 32, 33);
  const std::string description = DescriptionOf(kernel, target);
  EXPECT_TRUE(absl::EndsWith(description, " tdpbf16ps copied rows")) << description;
  ExpectLikeNaive(kernel, target, kTolerance, kAllowed);
  // The issue slots of vdpbf16ps do not matter for matrices.
  Target slow = target;
  slow.machine = &MachineOf(slow.triple, "sapphirerapids");
  EXPECT_EQ(DescriptionOf(kernel, slow), description);
}

// Rows that do not fit on the stack as bfloat16 are copied by the tile.
TEST(DotFloats, RowsBeyondTheStackAreCopiedByTheTile) {
  const Target target = Machines().back();
  const Kernel kernel = Convolution(62, 66, 32, 8);
  const std::string description = DescriptionOf(kernel, target);
  EXPECT_TRUE(absl::EndsWith(description, absl::StrCat(kName, " copied rows"))) << description;
}

TEST(DotFloats, ConstantsTakeHalfOfTheBytes) {
  const auto bytes = [](const ScheduleOptions& options) {
    const Scheduled scheduled = Schedule(Dense(1, 8, 64, 64), Machines().back(), options);
    int64_t sum = 0;
    for (const loop::Constant& c : scheduled.constants) sum += c.buffer->num_bytes();
    return sum;
  };
  EXPECT_EQ(bytes({}), 64 * 64 * 4);
  EXPECT_EQ(bytes(kAllowed), 64 * 64 * 2);
}

// A single row waits for its constants, which take half of the bytes.
TEST(DotFloats, SlowMachinesHaveThemOfSingleRows) {
  Target machine = Machines().back();
  machine.machine = &MachineOf(machine.triple, "sapphirerapids");
  for (const int64_t rows : {1, 2, 64}) {
    const std::string text = Schedule(Dense(1, rows, 64, 32), machine, kAllowed).description;
    EXPECT_EQ(absl::StrContains(text, kName), rows == 1) << text;
  }
}

TEST(DotFloats, OnlyWhereTheyAreAllowed) {
  const Target target = Machines().back();
  const Kernel kernel = Dense(1, 8, 64, 64);
  EXPECT_FALSE(absl::StrContains(DescriptionOf(kernel, target, {}), kName));
  EXPECT_FALSE(absl::StrContains(Text(Schedule(kernel, target)), "dot<"));
  // Both factors are computed.
  EXPECT_FALSE(absl::StrContains(DescriptionOf(Dense(1, 8, 64, 64, false), target), kName));
  // The target has no instruction.
  for (const Target& other : {VectorTarget(512), DotTarget()}) {
    EXPECT_EQ(Text(Schedule(kernel, other, kAllowed)), Text(Schedule(kernel, other)));
  }
}

}  // namespace
}  // namespace kiln::schedule
