// SPDX-License-Identifier: Apache-2.0
// Parallel loops as launches of tasks, and the overlap of a function's parameters.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/test_programs.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/passes.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::ForKind;
using loop::LoopProgram;
using loop::MakeFor;
using loop::MakeLoad;
using loop::MakeStore;
using loop::MakeVar;
using loop::Stmt;
using loop::Var;

// A matrix product whose rows are computed in parallel. The loop captures a variable of an outer
// loop.
LoopProgram ParallelProgram() {
  const Buffer a = Param("a", kF32, {3, 6, 8}), b = Param("b", kF32, {8, 5}),
               out = Param("out", kF32, {3, 6, 5});
  const Buffer acc = loop::MakeBuffer("acc", kF32, {}, loop::BufferScope::kLocal);
  const Var n = MakeVar("n"), i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k");
  const Stmt product =
      MakeFor(k, 0, 8, ForKind::kSerial,
              MakeStore(acc, {}, MakeLoad(acc, {}) + MakeLoad(a, {n, i, k}) * MakeLoad(b, {k, j})));
  const Stmt element =
      loop::MakeAllocate(acc, loop::MakeBlock({MakeStore(acc, {}, loop::Const(kF32, 0)), product,
                                               MakeStore(out, {n, i, j}, MakeLoad(acc, {}))}));
  return OneFunc(
      {a, b, out}, 2,
      MakeFor(n, 0, 3, ForKind::kSerial,
              MakeFor(i, 0, 6, ForKind::kParallel, MakeFor(j, 0, 5, ForKind::kSerial, element))));
}

TEST(LaunchTest, LaunchRunsEveryIterationOnce) {
  LoopProgram program = ParallelProgram();
  loop::OutlineParallel(program, /*threads=*/4);
  ASSERT_GT(program.funcs.size(), 1u);
  for (const Target& target : RunnableTargets()) {
    ExpectSameBits(program, "f",
                   {EdgeValues(kF32, 144, 7), EdgeValues(kF32, 40, 8), std::string(360, '\0')},
                   target);
  }
}

int FailingLaunch(void*, void*, int) { return -5; }

TEST(LaunchTest, StatusOfAFailedLaunchIsReturned) {
  LoopProgram program = ParallelProgram();
  loop::OutlineParallel(program, /*threads=*/4);
  auto jit = *Jit::Create(program, Target::Host(),
                          {{"TVMBackendParallelLaunch", reinterpret_cast<void*>(&FailingLaunch)}});
  std::vector<float> a(144), b(40), out(90);
  auto f = reinterpret_cast<int32_t (*)(float*, float*, float*)>(jit->Lookup("f"));
  EXPECT_EQ(f(a.data(), b.data(), out.data()), -5);
}

TEST(LaunchTest, ParametersMayOverlapOnlyInPlace) {
  LoopProgram program = ParallelProgram();
  loop::OutlineParallel(program, /*threads=*/4);
  EXPECT_NE(EmitLlvmText(program, Target::Host())->find("noalias"), std::string::npos);
  program = ParallelProgram();
  program.funcs[0].in_place = true;
  loop::OutlineParallel(program, /*threads=*/4);
  EXPECT_EQ(EmitLlvmText(program, Target::Host())->find("noalias"), std::string::npos);
}

TEST(LaunchTest, CopiesToTheirOwnMemoryDoNothing) {
  LoopProgram program = ParallelProgram();
  EXPECT_EQ(EmitLlvmText(program, Target::Host())->find("icmp eq ptr"), std::string::npos);
  program.funcs[0].is_copy = true;
  const std::string text = *EmitLlvmText(program, Target::Host());
  const size_t test = text.find("icmp eq ptr");
  ASSERT_NE(test, std::string::npos) << text;
  EXPECT_LT(test, text.find("load float")) << text;
}

}  // namespace
}  // namespace kiln::codegen
