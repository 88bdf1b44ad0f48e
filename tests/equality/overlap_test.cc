// SPDX-License-Identifier: Apache-2.0
// Random graphs compiled for firmware, with and without outputs that overlap inputs: the same bytes
// on the interpreter, and on all engines.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"
#include "tests/equality/engines.h"
#include "tests/equality/random_graph.h"
#include "tests/equality/run_firmware.h"

namespace kiln::equality {
namespace {

constexpr uint32_t kGraphs = 250;  // of each kind
constexpr uint32_t kGraphsOnAllEngines = 40;

class OverlapTest : public testing::TestWithParam<const char*> {};

TEST_P(OverlapTest, GivesTheSameBytesInLessMemory) {
  const absl::StatusOr<Target> target = Target::Parse(GetParam());
  ASSERT_TRUE(target.ok()) << target.status();
  int overlapped = 0;
  for (uint32_t seed = 0; seed < 2 * kGraphs; ++seed) {
    const Case test = seed % 2 == 0 ? RandomQuantizedCase(seed / 2) : RandomCase(seed / 2);
    if (test.graph.outputs.empty()) continue;
    const absl::StatusOr<FirmwareRun> apart = RunFirmware(test, *target, {.overlap = false});
    const absl::StatusOr<FirmwareRun> over = RunFirmware(test, *target, {.overlap = true});
    ASSERT_TRUE(apart.ok() && over.ok()) << test.name << apart.status() << over.status();
    EXPECT_EQ(over->outputs, apart->outputs) << test.name;
    EXPECT_EQ(apart->overlaps, 0u);
    if (over->overlaps == 0) {
      EXPECT_EQ(over->workspace_bytes, apart->workspace_bytes) << test.name;
      continue;
    }
    EXPECT_LT(over->workspace_bytes, apart->workspace_bytes) << test.name;
    ++overlapped;
  }
  EXPECT_GT(overlapped, 20);
}

// C compilers must not assume that such parameters do not alias.
TEST_P(OverlapTest, AllEnginesAgree) {
  const absl::StatusOr<Target> target = Target::Parse(GetParam());
  ASSERT_TRUE(target.ok()) << target.status();
  std::vector<Case> cases;
  for (uint32_t seed = 0; seed < kGraphsOnAllEngines; ++seed) {
    cases.push_back(RandomQuantizedCase(seed));
  }
  const std::vector<Outputs> over = RunOnAllEngines(cases, {.target = *target, .overlap = true});
  const std::vector<Outputs> apart =
      RunOnAllEngines(cases, {.target = *target, .interpret_only = true});
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(Difference(over[i], apart[i], 0), "") << cases[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, OverlapTest,
                         testing::Values("cortex-m4f", "cortex-m55", "riscv32imac"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace kiln::equality
