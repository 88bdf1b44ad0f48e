// SPDX-License-Identifier: Apache-2.0
// Random graphs compiled for firmware, with outputs that reach into inputs and without: the same
// bytes on the interpreter, and on all engines.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/status.h"
#include "compiler/loop/interpret.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "tests/equality/engines.h"
#include "tests/equality/random_graph.h"

namespace kiln::equality {
namespace {

constexpr uint32_t kGraphs = 250;  // of each kind
constexpr uint32_t kGraphsOnAllEngines = 40;

struct FirmwareRun {
  size_t overlaps;
  int64_t workspace_bytes;
  std::vector<std::string> outputs;
};

// Runs the whole model in its workspace, where its inputs and outputs lie too.
absl::StatusOr<FirmwareRun> RunFirmware(const Case& test, const Target& target, bool overlap) {
  CompileOptions options;
  options.target = target;
  options.runtime = Runtime::kCrt;
  options.interface = Interface::kC;
  options.calling_convention = CallingConvention::kUnpacked;
  options.workspace_io = true;
  options.overlap = overlap;
  KILN_ASSIGN_OR_RETURN(const Stages stages, RunStages(test.graph, options));
  const Plan& plan = stages.plan;
  std::string memory(static_cast<size_t>(plan.workspace_bytes()), '\xa5');
  const auto at = [&](int id) -> char* {
    return memory.data() + plan.buffers[static_cast<size_t>(plan.Root(id))].offset_bytes;
  };
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const std::string bytes(test.inputs[i].bytes());
    std::memcpy(at(plan.inputs[i]), bytes.data(), bytes.size());
  }
  const std::vector<void*> args = {memory.data()};
  KILN_RETURN_IF_ERROR(
      loop::Interpreter(stages.program).Run(stages.metadata.functions(0).name(), args));
  FirmwareRun run{plan.overlaps.size(), plan.workspace_bytes(), {}};
  for (int id : plan.outputs) {
    run.outputs.emplace_back(at(id),
                             static_cast<size_t>(plan.buffers[static_cast<size_t>(id)].bytes()));
  }
  return run;
}

class OverlapTest : public testing::TestWithParam<const char*> {};

TEST_P(OverlapTest, GivesTheSameBytesInLessMemory) {
  const absl::StatusOr<Target> target = Target::Parse(GetParam());
  ASSERT_TRUE(target.ok()) << target.status();
  int overlapped = 0;
  for (uint32_t seed = 0; seed < 2 * kGraphs; ++seed) {
    const Case test = seed % 2 == 0 ? RandomQuantizedCase(seed / 2) : RandomCase(seed / 2);
    if (test.graph.outputs.empty()) continue;
    const absl::StatusOr<FirmwareRun> apart = RunFirmware(test, *target, false);
    const absl::StatusOr<FirmwareRun> over = RunFirmware(test, *target, true);
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

// Compilers may not take it that such parameters have memory of their own.
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
