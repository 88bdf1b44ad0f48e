// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of small integers: taps as groups of dot products, and windows that are
// computed by loops in assembly.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/schedule/testing/dot_machines.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

struct Depthwise {
  int64_t height, width, channels;
  int64_t kernel_h = 3, kernel_w = 3, stride = 1, pad = 1;
};

// out[h, w, c] = relu of the sum over kh, kw of padded[h * stride + kh, w * stride + kw, c] *
// weight[kh, kw, c].
Kernel KernelOf(const Depthwise& d, DType of_x, const Weights& weights) {
  const int64_t padded_h = d.height + 2 * d.pad, padded_w = d.width + 2 * d.pad;
  const int64_t h = (padded_h - d.kernel_h) / d.stride + 1,
                w = (padded_w - d.kernel_w) / d.stride + 1;
  const Buffer x = Param("x", of_x, {d.height, d.width, d.channels});
  const Buffer padded = Workspace("pad", of_x, {padded_h, padded_w, d.channels});
  const Buffer sum = Workspace("sum", kI32, {h, w, d.channels});
  const Buffer out = Param("out", kI32, {h, w, d.channels});
  const loop::Constant weight =
      Numbers(weights.dtype, {d.kernel_h, d.kernel_w, d.channels}, weights.least, weights.most);
  Kernel kernel{.name = "f", .inputs = {x}, .outputs = {out}, .constants = {weight}, .stages = {}};
  kernel.stages.push_back(Pad(x, padded, d.pad));
  kernel.stages.push_back(
      Reduce(sum, {d.kernel_h, d.kernel_w}, Combine::kSum, [&](const Index& i, const Index& r) {
        return Product(
            MakeLoad(padded, {i[0] * Expr(d.stride) + r[0], i[1] * Expr(d.stride) + r[1], i[2]}),
            MakeLoad(weight.buffer, {r[0], r[1], i[2]}));
      }));
  kernel.stages.push_back(Pointwise(out, [&](const Index& i) {
    return loop::Max(MakeLoad(sum, i), loop::IntConst(loop::Type::Of(kI32), 0));
  }));
  return kernel;
}

// A machine, and its instruction for int8 and for uint8; empty if it has none.
struct Machine {
  Target target;
  std::string of_int8, of_uint8;
};

std::vector<Machine> Machines() {
  const std::string x86 = "x86_64-pc-linux-gnu", arm = "aarch64-unknown-linux-gnu";
  return {{DotTarget(), "vpdpwssd", "vpdpwssd"},
          {WithFeatures(256, x86, "+avx2,+avxvnni"), "vpdpwssd", "vpdpwssd"},
          {WithFeatures(256, x86, "+avx2"), "vpmaddwd", "vpmaddwd"},
          {WithFeatures(128, x86, ""), "vpmaddwd", "vpmaddwd"},
          {WithFeatures(128, arm, "+dotprod"), "sdot", ""},
          {WithFeatures(128, arm, "+dotprod,+i8mm"), "sdot", "usdot"}};
}

void ExpectTaps(const Kernel& kernel, const Target& target, const std::string& row) {
  const Scheduled scheduled = Schedule(kernel, target);
  EXPECT_EQ(scheduled.description, row.empty() ? "reduction" : "reduction " + row);
  EXPECT_EQ(absl::StrContains(Text(scheduled), absl::StrCat("dot<", row)), !row.empty());
  ExpectLikeNaive(kernel, target);
  if (!target.is_baremetal()) return;
  ExpectLikeNaive(kernel, target, 0, {.optimize = Optimize::kBalanced});
  ExpectLikeNaive(kernel, target, 0, {.optimize = Optimize::kSize});
}

// Windows of whole groups and others, and vectors of whole channels and rests.
TEST(DotTaps, AreGroupsAlongTheFirstAxisOfTheWindow) {
  const Depthwise windows[] = {
      {.height = 5, .width = 7, .channels = 32},
      {.height = 6, .width = 6, .channels = 8, .stride = 2},
      {.height = 4, .width = 9, .channels = 20, .kernel_h = 2, .kernel_w = 2, .pad = 0},
      {.height = 9, .width = 5, .channels = 44, .kernel_h = 5, .kernel_w = 5, .pad = 2},
      {.height = 8, .width = 3, .channels = 16, .kernel_h = 4, .kernel_w = 1, .pad = 0},
      {.height = 1, .width = 11, .channels = 16, .kernel_h = 1, .kernel_w = 7, .pad = 0}};
  for (const auto& [target, of_int8, of_uint8] : Machines()) {
    for (const Depthwise& window : windows) {
      SCOPED_TRACE(absl::StrCat(target.features, ": ", window.kernel_h, "x", window.kernel_w,
                                " of ", window.channels));
      ExpectTaps(KernelOf(window, kI8, kWeights[0]), target, of_int8);
      ExpectTaps(KernelOf(window, kU8, kWeights[0]), target, of_uint8);
    }
  }
}

TEST(DotTaps, AreReadFromOneInterleavedVectorEach) {
  const Depthwise window = {.height = 5, .width = 7, .channels = 16, .pad = 0};
  const auto constant_of = [](const Scheduled& scheduled) {
    EXPECT_EQ(scheduled.constants.size(), 1);
    const loop::BufferNode& buffer = *scheduled.constants.front().buffer;
    return absl::StrCat(buffer.name, " ", buffer.dtype.ToString(), " ", buffer.num_elements());
  };
  // The three rows of the window are two pairs. The second pair has a 0.
  const Scheduled pairs = Schedule(KernelOf(window, kI8, kWeights[0]), DotTarget());
  EXPECT_TRUE(absl::StrContains(Text(pairs), "interleave(int16(x["));
  EXPECT_EQ(constant_of(pairs), "w_grouped int16 192");
  // They are one group of four.
  const Scheduled fours = Schedule(KernelOf(window, kI8, kWeights[0]),
                                   WithFeatures(128, "aarch64-unknown-linux-gnu", "+dotprod"));
  EXPECT_EQ(constant_of(fours), "w_grouped int8 192");
}

TEST(DotTaps, OfInt16AndOfWideConstants) {
  const Depthwise window = {.height = 5, .width = 7, .channels = 16};
  const Weights wide = {kI16, -32768, 32767};
  for (const Weights& weights : {kWeights[1], wide}) {
    ExpectTaps(KernelOf(window, kI16, weights), DotTarget(), "vpdpwssd");
    ExpectTaps(KernelOf(window, kI8, weights), DotTarget(), "vpdpwssd");
  }
  // Types and values that the instruction cannot read.
  ExpectTaps(KernelOf(window, DType::UInt(16), kWeights[0]), DotTarget(), "");
  ExpectTaps(KernelOf(window, kI8, kWeights[1]),
             WithFeatures(128, "aarch64-unknown-linux-gnu", "+dotprod"), "");
}

TEST(DotTaps, NotOfFewChannelsNorOfOneTap) {
  ExpectTaps(KernelOf({.height = 5, .width = 7, .channels = 18}, kI8, kWeights[0]), DotTarget(),
             "");
  ExpectTaps(KernelOf({.height = 5, .width = 7, .channels = 16}, kI8, kWeights[0]), VectorTarget(0),
             "");
  EXPECT_FALSE(absl::StrContains(
      Text(Schedule(
          KernelOf(
              {.height = 5, .width = 7, .channels = 16, .kernel_h = 1, .kernel_w = 1, .pad = 0},
              kI8, kWeights[0]),
          DotTarget())),
      "interleave"));
}

// On a Cortex-M4, several rows of outputs share the copied rows of one channel, and a tile computes
// several outputs. Heights are whole and partial groups of rows, and widths are whole and partial
// tiles.
TEST(DotTaps, OfCortexMAreWindowsThatOverlap) {
  for (const Depthwise& window : {Depthwise{.height = 6, .width = 6, .channels = 8},
                                  {.height = 25, .width = 5, .channels = 3},
                                  {.height = 3, .width = 3, .channels = 4},
                                  {.height = 24, .width = 24, .channels = 2},
                                  {.height = 12, .width = 9, .channels = 5, .stride = 2},
                                  {.height = 21, .width = 40, .channels = 1, .stride = 2},
                                  {.height = 9, .width = 7, .channels = 3, .pad = 0},
                                  {.height = 10, .width = 8, .channels = 3, .stride = 2, .pad = 0},
                                  {.height = 9, .width = 8, .channels = 2, .kernel_h = 5, .pad = 2},
                                  {.height = 1, .width = 3, .channels = 2, .pad = 4}}) {
    SCOPED_TRACE(absl::StrCat(window.height, "x", window.width, "x", window.channels, " by ",
                              window.stride, ", padded by ", window.pad));
    for (const DType of_x : {kI8, kU8, kI16}) {
      ExpectTaps(KernelOf(window, of_x, kWeights[0]), DspTarget(), "smlad_taps");
    }
  }
}

TEST(DotTaps, OfCortexMAreWindowsOfFiveOrSevenTaps) {
  for (const int64_t taps : {5, 7}) {
    for (const Depthwise& window : {Depthwise{.height = 9, .width = 12, .channels = 3},
                                    {.height = 12, .width = 11, .channels = 2},
                                    {.height = 14, .width = 13, .channels = 3, .stride = 2},
                                    {.height = 15, .width = 16, .channels = 2, .stride = 2},
                                    {.height = 8, .width = 8, .channels = 1, .pad = 0}}) {
      Depthwise wide = window;
      wide.kernel_h = wide.kernel_w = taps;
      if (window.pad != 0) wide.pad = taps / 2;
      SCOPED_TRACE(
          absl::StrCat(taps, " taps, ", wide.height, "x", wide.width, " by ", wide.stride));
      for (const DType of_x : {kI8, kU8, kI16}) {
        ExpectTaps(KernelOf(wide, of_x, kWeights[0]), DspTarget(),
                   absl::StrCat("smlad_taps", taps));
      }
    }
  }
}

// Weights of any 16 bits, and rows that are long.
TEST(DotTaps, OfCortexMOfWideConstantsAndWideRows) {
  const Weights wide = {kI16, -32768, 32767};
  for (const Weights& weights : {kWeights[1], wide}) {
    ExpectTaps(KernelOf({.height = 6, .width = 6, .channels = 4}, kI16, weights), DspTarget(),
               "smlad_taps");
  }
  ExpectTaps(KernelOf({.height = 4, .width = 240, .channels = 2}, kI8, kWeights[0]), DspTarget(),
             "smlad_taps");
}

// Windows of other widths or strides, data that int16 cannot represent, and rows that are too far
// apart.
TEST(DotTaps, OfCortexMThatNoLoopComputes) {
  const Depthwise window = {.height = 6, .width = 6, .channels = 4};
  ExpectTaps(KernelOf({.height = 4, .width = 260, .channels = 2}, kI8, kWeights[0]), DspTarget(),
             "");
  ExpectTaps(KernelOf(window, DType::UInt(16), kWeights[0]), DspTarget(), "");
  ExpectTaps(KernelOf({.height = 7, .width = 9, .channels = 4, .kernel_w = 4}, kI8, kWeights[0]),
             DspTarget(), "");
  ExpectTaps(KernelOf({.height = 9, .width = 11, .channels = 4, .stride = 3}, kI8, kWeights[0]),
             DspTarget(), "");
}

TEST(DotTaps, OfCortexMCopyRowsToTheStackOrTheWorkspace) {
  const auto workspace_of = [](const Depthwise& window) {
    return Schedule(KernelOf(window, kI8, kWeights[0]), DspTarget()).func.workspace;
  };
  // 8 rows of 8 elements fit on the stack. 10 rows of 26 elements do not.
  EXPECT_EQ(workspace_of({.height = 6, .width = 6, .channels = 4}), nullptr);
  const Buffer workspace = workspace_of({.height = 24, .width = 24, .channels = 4});
  ASSERT_NE(workspace, nullptr);
  EXPECT_EQ(workspace->num_bytes(), AlignUp(10 * 26 * 2, DspTarget().buffer_alignment()));
}

}  // namespace
}  // namespace kiln::schedule
