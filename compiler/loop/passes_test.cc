// SPDX-License-Identifier: Apache-2.0
// All passes together on random functions. random_passes_test.cc tests each pass separately.
#include "compiler/loop/passes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/loop/lane_of.h"
#include "compiler/loop/partition.h"
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

TEST(PassesTest, VectorsThatAreWrittenOut) {
  const auto keeps_none = [](const Store&) { return false; };
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    Func func = RandomFunc(seed);
    const auto expected = RunOnRandomInputs(ProgramOf(func), "f", seed);
    func.body = Simplify(ExpandVectors(VectorizeLoops(Simplified(func.body), 256), keeps_none));
    ASSERT_EQ(RunOnRandomInputs(ProgramOf(func), "f", seed), expected) << ToString(func);
  }
  const Buffer a = MakeBuffer("a", DType::Float(32), {4}, BufferScope::kParam);
  const Buffer b = MakeBuffer("b", DType::Float(32), {4}, BufferScope::kParam);
  const auto half = [&](int64_t first) { return MakeLoad(a, {MakeRamp(Expr(first), 1, 2)}); };
  const Stmt store = MakeStore(b, {MakeRamp(0, 1, 4)}, MakeInterleave({half(0), half(2)}));
  EXPECT_EQ(ToString(ExpandVectors(store, keeps_none)),
            "b[0] = a[0]\nb[1] = a[2]\nb[2] = a[1]\nb[3] = a[3]\n");
  const auto keeps_all = [](const Store&) { return true; };
  EXPECT_EQ(ExpandVectors(store, keeps_all).get(), store.get());
}

// The lane is a variable, as in a loop over lanes.
TEST(PassesTest, LaneOfVector) {
  const Buffer a = MakeBuffer("a", DType::Int(8), {64}, BufferScope::kParam);
  const Var lane = MakeVar("lane"), i = MakeVar("i");
  const Expr wide = MakeCast(DType::Int(32), MakeLoad(a, {MakeRamp(i, 2, 4)}));
  const Expr clipped = MakeSelect(wide > MakeBroadcast(IntConst(Type::Of(DType::Int(32)), 5), 4),
                                  MakeUnary(UnaryOp::kAbs, wide), wide);
  // Sharing is kept.
  EXPECT_EQ(ToString(LaneOf(clipped, lane)),
            "let t0 = int32(a[i + lane * 2]) in select(t0 > 5i32, abs(t0), t0)");
  const Expr mixed = MakeInterleave({wide, wide});
  EXPECT_EQ(LaneOf(mixed, lane).get(), nullptr);
  EXPECT_EQ(ToString(LaneOf(mixed, Expr(3))), "int32(a[i + 2])");
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
