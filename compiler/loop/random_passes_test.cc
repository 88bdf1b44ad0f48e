// SPDX-License-Identifier: Apache-2.0
// Each pass over loops on random programs. All results must be the same with and without the pass,
// bit by bit, and it must change at least the stated number of programs. Each pass has a target
// loop_pass_<name>_test. `bazel test //compiler/loop:loop_passes_hunt` runs 20,000 programs through
// each of them; `--test_env=KILN_FIRST_SEED=100000` selects others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "compiler/loop/mutate.h"
#include "compiler/loop/partition.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/random_program.h"
#include "compiler/loop/round_trip.h"

namespace kiln::loop {
namespace {

uint32_t Number(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

Stmt Simplified(const Stmt& s) { return Simplify(FlattenBuffers(s)); }

LoopProgram OneFunc(uint32_t seed) {
  LoopProgram program;
  program.funcs.push_back(RandomFunc(seed));
  return program;
}

LoopProgram FlatFunc(uint32_t seed) {
  LoopProgram program = OneFunc(seed);
  program.funcs[0].body = FlattenBuffers(program.funcs[0].body);
  return program;
}

LoopProgram SimpleFunc(uint32_t seed) {
  LoopProgram program = OneFunc(seed);
  program.funcs[0].body = Simplified(program.funcs[0].body);
  return program;
}

// Makes three functions: f, g, which equals f except for its constants, and h, which differs. The
// first input of each random function becomes a constant.
LoopProgram ThreeFuncs(uint32_t seed) {
  LoopProgram program;
  const auto add = [&](const char* name, uint32_t func_seed, float first) {
    Func func = RandomFunc(func_seed);
    const Buffer in = func.params[0];
    const Buffer constant = MakeBuffer(std::string(name) + "_c", in->dtype, in->shape,
                                       BufferScope::kConstant, in->alignment_bytes);
    std::vector<float> values;
    for (int64_t i = 0; i < NumElements(in->shape); ++i) {
      values.push_back(first + static_cast<float>(i));
    }
    program.constants.push_back({constant, Tensor::From<float>(in->shape, in->dtype, values)});
    func.params.erase(func.params.begin());
    func.num_inputs -= 1;
    func.name = name;
    func.body = Simplified(ReplaceBuffers(func.body, {{in.get(), constant}}));
    program.funcs.push_back(std::move(func));
  };
  add("f", seed, 1);
  add("g", seed, -3);
  add("h", seed + 1000000, 2);
  return program;
}

// Applies `pass` to the bodies of all functions.
std::function<void(LoopProgram&, uint32_t)> OnStatements(Stmt (*pass)(const Stmt&)) {
  return [pass](LoopProgram& program, uint32_t) {
    for (Func& func : program.funcs) func.body = pass(func.body);
  };
}

struct Case {
  const char* name;
  LoopProgram (*make)(uint32_t seed);
  std::function<void(LoopProgram&, uint32_t seed)> pass;
  uint32_t changed_of_hundred;  // minimum number of programs that the pass changes
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

class LoopPass : public testing::TestWithParam<Case> {};

TEST_P(LoopPass, KeepsEveryBit) {
  const Case& test = GetParam();
  const uint32_t programs = Number("KILN_PROGRAMS", 500), first = Number("KILN_FIRST_SEED", 0);
  uint32_t changed = 0;
  for (uint32_t seed = first; seed < first + programs; ++seed) {
    const LoopProgram before = test.make(seed);
    LoopProgram after = before;
    test.pass(after, seed);
    if (ToString(after) == ToString(before)) continue;
    ++changed;
    ASSERT_EQ(CheckRoundTrip(before), absl::OkStatus()) << ToString(before);
    ASSERT_EQ(CheckRoundTrip(after), absl::OkStatus()) << ToString(after);
    for (const Func& func : before.funcs) {
      const auto expected = RunOnRandomInputs(before, func.name, seed);
      ASSERT_GT(expected.size(), 1u) << expected[0] << "\nseed " << seed << "\n"
                                     << ToString(before);
      ASSERT_EQ(RunOnRandomInputs(after, func.name, seed), expected)
          << "function " << func.name << " of seed " << seed << "\n"
          << ToString(before) << "\nbecame\n"
          << ToString(after);
    }
  }
  RecordProperty("changed", static_cast<int>(changed));
  EXPECT_GE(changed * 100, programs * test.changed_of_hundred) << changed << " of " << programs;
}

INSTANTIATE_TEST_SUITE_P(
    Passes, LoopPass,
    testing::Values(
        Case{"flatten_buffers", OneFunc, OnStatements(FlattenBuffers), 90},
        Case{"simplify", FlatFunc, OnStatements([](const Stmt& s) { return Simplify(s); }), 95},
        Case{"partition_loops", SimpleFunc,
             OnStatements([](const Stmt& s) { return PartitionLoops(s); }), 60},
        Case{"partition_nests", SimpleFunc, OnStatements([](const Stmt& s) {
               return PartitionLoops(s, {.narrow_below = PartitionLimits::kAlways});
             }),
             50},
        Case{"unroll_loops", SimpleFunc, OnStatements(UnrollLoops), 35},
        Case{"vectorize_loops", SimpleFunc,
             [](LoopProgram& program, uint32_t seed) {
               constexpr int kBits[] = {64, 128, 256, 512};
               for (Func& func : program.funcs)
                 func.body = VectorizeLoops(func.body, kBits[seed % 4]);
             },
             55},
        Case{"outline_parallel", SimpleFunc,
             [](LoopProgram& program, uint32_t seed) {
               OutlineParallel(program, 1 + static_cast<int>(seed % 5));
               for (Func& func : program.funcs) func.body = Simplify(func.body);
             },
             45},
        Case{"share_functions", ThreeFuncs,
             [](LoopProgram& program, uint32_t) { ShareFunctions(program); }, 90},
        Case{"share_numbers", ThreeFuncs,
             [](LoopProgram& program, uint32_t) { ShareFunctions(program, true, true); }, 90}),
    [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kiln::loop
