// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/slow_paths.h"

#include <string>
#include <vector>

#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

std::vector<SlowPath> PathsOf(absl::string_view model, absl::string_view target_text) {
  const absl::StatusOr<Target> target = Target::Parse(target_text);
  EXPECT_TRUE(target.ok()) << target.status();
  if (!target.ok()) return {};
  const absl::StatusOr<Lowered> lowered = Lower(ParseModel(model), *target, {.module_name = "mod"});
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  if (!lowered.ok()) return {};
  return FindSlowPaths(*lowered, *target);
}

constexpr absl::string_view kFloats = R"(
def @main(%x: Tensor[(2, 4), float32], %y: Tensor[(2, 4), float32]) {
  add(%x, %y)
})";

constexpr absl::string_view kDoubles = R"(
def @main(%x: Tensor[(2, 4), float64], %y: Tensor[(2, 4), float64]) {
  add(%x, %y)
})";

// Products of 8 bits. The weights are no constants, and their order in memory does not suit the
// instructions.
constexpr absl::string_view kBytes = R"(
def @main(%x: Tensor[(4, 32), int8], %w: Tensor[(16, 32), int8]) {
  nn.dense(%x, %w, units=16, out_dtype="int32")
})";

// A function without arithmetic on floats.
constexpr absl::string_view kMove = R"(
def @main(%x: Tensor[(2, 4), float32]) {
  transpose(%x, axes=[1, 0])
})";

TEST(SlowPaths, FloatsWithoutAUnit) {
  for (const char* target : {"cortex-m0plus", "cortex-m3", "cortex-m4", "riscv32imac"}) {
    const std::vector<SlowPath> paths = PathsOf(kFloats, target);
    ASSERT_EQ(paths.size(), 1u) << target;
    EXPECT_EQ(paths[0].reason, SlowReason::kSoftwareFloat) << target;
    EXPECT_EQ(paths[0].function, "tvmgen_mod_fused_add");
    EXPECT_EQ(paths[0].op_names, "add");
    EXPECT_GE(paths[0].operations, 8);
    EXPECT_TRUE(PathsOf(kMove, target).empty()) << target;
  }
  for (const char* target :
       {"cortex-m4f", "cortex-m7f", "cortex-m33f", "cortex-m55", "riscv32imafc", "x86-64"}) {
    EXPECT_TRUE(PathsOf(kFloats, target).empty()) << target;
  }
}

TEST(SlowPaths, DoublesWithoutAUnit) {
  for (const char* target :
       {"cortex-m3", "cortex-m4f", "cortex-m7f", "cortex-m33f", "riscv32imafc"}) {
    const std::vector<SlowPath> paths = PathsOf(kDoubles, target);
    ASSERT_EQ(paths.size(), 1u) << target;
    EXPECT_EQ(paths[0].reason, SlowReason::kSoftwareDouble) << target;
  }
  for (const char* target : {"cortex-m55", "riscv32imafc -mattr=+d", "x86-64"}) {
    EXPECT_TRUE(PathsOf(kDoubles, target).empty()) << target;
  }
}

TEST(SlowPaths, ProductsOneByOne) {
  for (const char* target : {"cortex-m4f", "cortex-m33f", "cortex-m55"}) {
    const std::vector<SlowPath> paths = PathsOf(kBytes, target);
    ASSERT_EQ(paths.size(), 1u) << target;
    EXPECT_EQ(paths[0].reason, SlowReason::kSingleProducts) << target;
  }
  // Targets without a faster instruction, and one with an operating system.
  for (const char* target : {"cortex-m0plus", "cortex-m3", "riscv32imac", "x86-64"}) {
    EXPECT_TRUE(PathsOf(kBytes, target).empty()) << target;
  }
}

TEST(SlowPaths, EachFunctionOnce) {
  EXPECT_EQ(PathsOf(R"(
def @main(%x: Tensor[(2, 4), float32]) {
  (exp(%x), sqrt(%x))
})",
                    "cortex-m3")
                .size(),
            2u);
}

TEST(SlowPaths, ReasonsDiffer) {
  EXPECT_NE(std::string(TextOf(SlowReason::kSoftwareFloat)), TextOf(SlowReason::kSoftwareDouble));
  EXPECT_NE(std::string(TextOf(SlowReason::kSingleProducts)), "");
}

}  // namespace
}  // namespace kiln
