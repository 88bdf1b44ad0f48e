// SPDX-License-Identifier: Apache-2.0
// Every pass keeps every bit that a function computes, on random functions.
#include "compiler/loop/passes.h"

#include <gtest/gtest.h>

#include <functional>
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

// `pass` runs on the function after `before` did.
void ExpectSameBits(const std::function<Stmt(const Stmt&)>& before,
                    const std::function<Stmt(const Stmt&)>& pass) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    Func func = RandomFunc(seed);
    func.body = before(func.body);
    const LoopProgram original = ProgramOf(func);
    const auto expected = RunOnRandomInputs(original, "f", seed);
    ASSERT_GT(expected.size(), 1u) << expected[0] << "\nseed " << seed << "\n" << ToString(func);
    func.body = pass(func.body);
    const LoopProgram transformed = ProgramOf(func);
    ASSERT_EQ(RunOnRandomInputs(transformed, "f", seed), expected)
        << "seed " << seed << "\n"
        << ToString(original) << "\nbecame\n"
        << ToString(transformed);
  }
}

Stmt Keep(const Stmt& s) { return s; }
Stmt Simplified(const Stmt& s) { return Simplify(FlattenBuffers(s)); }

TEST(PassesTest, FlattenBuffers) { ExpectSameBits(Keep, FlattenBuffers); }

TEST(PassesTest, Simplify) {
  ExpectSameBits(FlattenBuffers, [](const Stmt& s) { return Simplify(s); });
}

TEST(PassesTest, PartitionLoops) {
  ExpectSameBits(Simplified, [](const Stmt& s) { return PartitionLoops(s); });
}

TEST(PassesTest, UnrollLoops) { ExpectSameBits(Simplified, UnrollLoops); }

TEST(PassesTest, VectorizeLoops) {
  for (int bits : {64, 128, 512}) {
    ExpectSameBits(Simplified, [bits](const Stmt& s) { return VectorizeLoops(s, bits); });
  }
}

TEST(PassesTest, AllTogether) {
  ExpectSameBits(Keep, [](const Stmt& s) {
    return Simplify(VectorizeLoops(Simplify(UnrollLoops(PartitionLoops(Simplified(s)))), 256));
  });
}

TEST(PassesTest, OutlineParallel) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    Func func = RandomFunc(seed);
    func.body = Simplified(func.body);
    LoopProgram program = ProgramOf(func);
    const auto expected = RunOnRandomInputs(program, "f", seed);
    OutlineParallel(program, 1 + static_cast<int>(seed % 5));
    for (Func& f : program.funcs) f.body = Simplify(f.body);
    ASSERT_EQ(RunOnRandomInputs(program, "f", seed), expected) << "seed " << seed << "\n"
                                                               << ToString(program);
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
