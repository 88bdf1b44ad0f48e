// SPDX-License-Identifier: Apache-2.0
// Random convolutional networks compiled for firmware, in strips of rows and as a whole, give the
// same bytes.
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"
#include "tests/equality/engines.h"
#include "tests/equality/random_graph.h"
#include "tests/equality/run_firmware.h"

namespace kiln::equality {
namespace {

constexpr uint32_t kGraphs = 170;  // graphs per target

struct FirmwareTarget {
  const char* name;
  uint32_t first_seed;
};

class SplitTest : public testing::TestWithParam<FirmwareTarget> {};

TEST_P(SplitTest, GivesTheSameBytesInLessMemory) {
  const absl::StatusOr<Target> target = Target::Parse(GetParam().name);
  ASSERT_TRUE(target.ok()) << target.status();
  int split = 0;
  for (uint32_t i = 0; i < kGraphs; ++i) {
    const Case test = RandomConvolutions(GetParam().first_seed + i);
    const absl::StatusOr<FirmwareRun> whole = RunFirmware(test, *target, {.split = false});
    const absl::StatusOr<FirmwareRun> strips = RunFirmware(test, *target, {.split = true});
    ASSERT_TRUE(whole.ok() && strips.ok()) << test.name << whole.status() << strips.status();
    EXPECT_EQ(strips->outputs, whole->outputs) << test.name;
    EXPECT_EQ(strips->workspace_bytes, whole->workspace_bytes - strips->split_saves_bytes)
        << test.name;
    EXPECT_EQ(whole->split_saves_bytes, 0);
    if (strips->split_saves_bytes == 0) {
      EXPECT_EQ(strips->calls, whole->calls) << test.name;
      // Strips that save little are used if the whole tensors do not fit.
      const int64_t max_bytes = whole->workspace_bytes / 16 * 15;
      const absl::StatusOr<FirmwareRun> tight =
          RunFirmware(test, *target, {.split = true, .max_bytes = max_bytes});
      if (!tight.ok()) continue;
      EXPECT_EQ(tight->outputs, whole->outputs) << test.name;
      EXPECT_LE(tight->workspace_bytes, max_bytes) << test.name;
      EXPECT_GT(tight->calls, whole->calls) << test.name;
      ++split;
      continue;
    }
    EXPECT_GT(strips->calls, whole->calls) << test.name;
    EXPECT_GE(strips->split_saves_bytes, whole->workspace_bytes / 4) << test.name;
    ++split;
  }
  EXPECT_GT(split, 40);
}

INSTANTIATE_TEST_SUITE_P(Targets, SplitTest,
                         testing::Values(FirmwareTarget{"cortex-m4f", 0},
                                         FirmwareTarget{"cortex-m55", kGraphs},
                                         FirmwareTarget{"riscv32imac", 2 * kGraphs}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace kiln::equality
