// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "compiler/loop/parse.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

LoopProgram Parsed(absl::string_view text) {
  const absl::StatusOr<LoopProgram> program = ParseProgram(text);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *program : LoopProgram();
}

// The program after the pass and Simplify.
std::string Outlined(absl::string_view text, int threads) {
  LoopProgram program = Parsed(text);
  OutlineParallel(program, threads);
  EXPECT_EQ(VerifyProgram(program), absl::OkStatus());
  for (Func& func : program.funcs) func.body = Simplify(func.body);
  return ToString(program);
}

constexpr char kNest[] = R"(
constant table: float32[2] = [1f32, 2f32]
in_place operator f(x: float32[18]) -> (y: float32[36]) {
  allocate scratch: float32[6] {
    for o in 0..3 {
      scratch[o] = 1f32
      for p in 0..6 parallel {
        for q in 0..2 parallel {
          y[(o * 6 + p) * 2 + q] = x[o * 6 + p] + table[q] + scratch[p]
        }
      }
    }
  }
}
)";

// The task's parameters are the buffers that it reads, the buffers that it writes, and the variable
// of the serial loop. Constants are global.
TEST(OutlineParallelTest, TheOuterParallelLoopBecomesATask) {
  EXPECT_EQ(Outlined(kNest, 4), R"(constant w0 "table": float32[2] = [1f32, 2f32]

internal in_place task f_task0(task: index, num_tasks: index, o: index, x: float32[18], scratch: float32[6]) -> (y: float32[36]) {
  let t0 = task * 6
  let t1 = max(t0 / num_tasks, 0)
  for p in t1..+min((t0 + 6) / num_tasks, 6) - t1 {
    for q in 0..2 {
      y[o * 12 + p * 2 + q] = x[o * 6 + p] + w0[q] + scratch[p]
    }
  }
}

in_place operator f(x: float32[18]) -> (y: float32[36]) {
  allocate scratch: float32[6] {
    for o in 0..3 {
      scratch[o] = 1f32
      launch 4 f_task0(x, scratch, y, o)
    }
  }
}
)");
}

TEST(OutlineParallelTest, NoMoreTasksThanIterations) {
  EXPECT_NE(Outlined(kNest, 64).find("launch 6 f_task0("), std::string::npos);
}

// p is in [0, 6) for every number of the task, so p / 6 is 0.
TEST(OutlineParallelTest, TheRangeOfATaskIsKnown) {
  const std::string text = Outlined(
      "operator g() -> (y: float32[6]) { for p in 0..6 parallel { y[p + p / 6] = 0f32 } }", 2);
  EXPECT_NE(text.find("y[p] = 0f32"), std::string::npos) << text;
}

TEST(OutlineParallelTest, OneThreadNeedsNoTask) {
  const std::string text = Outlined(kNest, 1);
  EXPECT_EQ(text.find("parallel"), std::string::npos) << text;
  EXPECT_EQ(text.find("task"), std::string::npos) << text;
}

}  // namespace
}  // namespace kiln::loop
