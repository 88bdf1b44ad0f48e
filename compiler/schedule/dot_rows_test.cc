// SPDX-License-Identifier: Apache-2.0
// Memory for the rows of dot products: copied rows, stored rows, and rows without memory.
#include <string>

#include "absl/strings/match.h"
#include "compiler/schedule/testing/dot_kernels.h"
#include "compiler/schedule/testing/dot_machines.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr char kVnni[] = " vpdpbusd";

// A single row is copied to the stack if it takes at most a third of the tensors' memory, otherwise
// to a part of the workspace that is idle. If there is none, it is read in place, which takes more
// instructions.
TEST(DotRows, CopyOfASingleRowDependsOnTheMemoryOfTheModel) {
  const Kernel kernel = Dense(1, 128, 20, kI8, kWeights[0]);
  const struct {
    TensorMemory memory;
    const char* description;
    int64_t workspace_bytes;
  } cases[] = {
      {{.least_bytes = 512, .spare_bytes = 256}, "smlad copied rows", 256},
      {{.least_bytes = 768, .spare_bytes = 256}, "smlad copied rows", 0},
      {{.least_bytes = 767, .spare_bytes = 256}, "smlad copied rows", 256},
      {{.least_bytes = 767, .spare_bytes = 255}, " smlad_s8", 0},
  };
  for (const auto& c : cases) {
    const Scheduled scheduled = Schedule(kernel, DspTarget(), {}, c.memory);
    EXPECT_TRUE(absl::EndsWith(scheduled.description, c.description)) << scheduled.description;
    const Buffer& workspace = scheduled.func.workspace;
    EXPECT_EQ(workspace == nullptr ? 0 : workspace->num_bytes(), c.workspace_bytes);
    ExpectLikeNaive(kernel, DspTarget(), 0, {}, c.memory);
  }
  // Tensors of several rows may overlap, so the idle part of the workspace is not known exactly.
  const TensorMemory memory = {.least_bytes = 1024, .spare_bytes = 256};
  const Scheduled rows = Schedule(Dense(5, 64, 20, kI8, kWeights[0]), DspTarget(), {}, memory);
  EXPECT_TRUE(absl::EndsWith(rows.description, "smlad copied rows")) << rows.description;
  EXPECT_EQ(rows.func.workspace, nullptr);
}

TEST(DotRows, FirmwareNeedsMemoryForTheRowsOfATileAlone) {
  Conv conv{.height = 32, .width = 32, .channels = 16, .outputs = 16};
  const Scheduled scheduled = Schedule(Convolution(conv, kI8, kWeights[0]), FirmwareTarget(0));
  ASSERT_NE(scheduled.func.workspace, nullptr);
  EXPECT_EQ(scheduled.func.workspace->num_bytes(), 2 * 3 * 3 * 16);
  conv.channels = 14;  // 252 bytes, which the stack holds
  EXPECT_EQ(Schedule(Convolution(conv, kI8, kWeights[0]), FirmwareTarget(0)).func.workspace,
            nullptr);
}

TEST(DotRows, NotOfCopiedRowsBeyondTheStack) {
  const auto description = [](int64_t k) {
    return Schedule(Dense(40, k, 20, kI8, kWeights[0]), DotTarget()).description;
  };
  EXPECT_TRUE(absl::StrContains(description(8191), kVnni)) << description(8191);
  EXPECT_FALSE(absl::StrContains(description(8193), kVnni)) << description(8193);
  // A tile has no more rows than the data have.
  const std::string of_few =
      Schedule(Dense(5, 40001, 20, kI8, kWeights[0]), DotTarget()).description;
  EXPECT_TRUE(absl::StrContains(of_few, kVnni)) << of_few;
  // Rows that need no copy may have any length.
  EXPECT_TRUE(absl::StrContains(description(16384), kVnni)) << description(16384);
  const auto of_padded = [](int64_t places, int64_t channels) {
    return Schedule(Convolution({.height = places,
                                 .width = places,
                                 .channels = channels,
                                 .outputs = 20,
                                 .kernel = 1},
                                kI8, kWeights[3]),
                    DotTarget())
        .description;
  };
  EXPECT_TRUE(absl::EndsWith(of_padded(2, 8196), "vpdpbusd stored rows"));
  // Padded data that do not fit on the stack are copied by the tile.
  EXPECT_TRUE(absl::EndsWith(of_padded(4, 8192), "vpdpbusd copied rows")) << of_padded(4, 8192);
  EXPECT_FALSE(absl::StrContains(of_padded(4, 8196), kVnni)) << of_padded(4, 8196);
}

TEST(DotRows, RowsBeyondTheStackAreCopiedByTheTile) {
  Conv conv{.height = 62, .width = 62, .channels = 64, .outputs = 16};  // 64 * 64 * 64 bytes
  EXPECT_TRUE(absl::EndsWith(Schedule(Convolution(conv, kU8, kWeights[0]), DotTarget()).description,
                             "vpdpbusd stored rows"));
  conv.width = 63;
  const Scheduled scheduled = Schedule(Convolution(conv, kU8, kWeights[0]), DotTarget());
  EXPECT_TRUE(absl::EndsWith(scheduled.description, "vpdpbusd copied rows"));
  EXPECT_EQ(scheduled.func.workspace, nullptr);
}

}  // namespace
}  // namespace kiln::schedule
