// SPDX-License-Identifier: Apache-2.0
// All passes together, on random functions; each alone is tested by random_passes_test.cc.
#include "compiler/loop/passes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/loop/random_program.h"

namespace kiln::loop {
namespace {

constexpr uint32_t kSeeds = 500;

LoopProgram ProgramOf(Func func) {
  LoopProgram program;
  program.funcs.push_back(std::move(func));
  return program;
}

Stmt Simplified(const Stmt& s) { return Simplify(FlattenBuffers(s)); }

TEST(PassesTest, AllTogether) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    Func func = RandomFunc(seed);
    const LoopProgram original = ProgramOf(func);
    const auto expected = RunOnRandomInputs(original, "f", seed);
    ASSERT_GT(expected.size(), 1u) << expected[0] << "\nseed " << seed << "\n" << ToString(func);
    func.body =
        Simplify(VectorizeLoops(Simplify(UnrollLoops(PartitionLoops(Simplified(func.body)))), 256));
    const LoopProgram transformed = ProgramOf(func);
    ASSERT_EQ(RunOnRandomInputs(transformed, "f", seed), expected)
        << "seed " << seed << "\n"
        << ToString(original) << "\nbecame\n"
        << ToString(transformed);
  }
}

TEST(PassesTest, SameTextTwice) {
  auto compile = [](uint32_t seed) {
    return ToString(
        VectorizeLoops(UnrollLoops(PartitionLoops(Simplified(RandomFunc(seed).body))), 256));
  };
  for (uint32_t seed = 0; seed < 300; ++seed) ASSERT_EQ(compile(seed), compile(seed));
}

}  // namespace
}  // namespace kiln::loop
