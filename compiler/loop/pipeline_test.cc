// SPDX-License-Identifier: Apache-2.0
// The order of the loop passes, and the properties that they claim.
#include "compiler/loop/pipeline.h"

#include <array>
#include <set>
#include <string>
#include <vector>

#include "compiler/loop/parse.h"
#include "compiler/loop/random_program.h"
#include "compiler/loop/round_trip.h"
#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

constexpr Properties kGoal =
    kWellFormed | kFlat | kNoUnrolledLoops | kNoVectorizedLoops | kNoParallelLoops | kSpelledDots;
constexpr size_t kNumPasses = 14;

std::array<LoopPass, kNumPasses> Table() {
  std::array<LoopPass, kNumPasses> table{};
  const absl::Span<const LoopPass> passes = AllLoopPasses();
  EXPECT_EQ(passes.size(), kNumPasses);
  std::copy(passes.begin(), passes.end(), table.begin());
  return table;
}

TEST(PipelineTest, NamesAreUniqueAndSayWhatTheyDo) {
  std::set<std::string> names;
  for (const LoopPass& pass : AllLoopPasses()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_GT(std::string(pass.doc).size(), 15u) << pass.name;
  }
}

// A swap of any two neighboring passes makes the order invalid. The build would fail, because
// pipeline.cc asserts that the table is valid.
TEST(PipelineTest, NeighboursDoNotSwap) {
  const std::array<LoopPass, kNumPasses> table = Table();
  EXPECT_TRUE(OrderIsValid(table, 0, kGoal));
  for (size_t i = 0; i + 1 < table.size(); ++i) {
    EXPECT_FALSE(OrderIsValid(WithSwapped(table, i), 0, kGoal))
        << table[i].name << " and " << table[i + 1].name;
  }
}

TEST(PipelineTest, PhasesAreTheWholeTable) {
  size_t next = 0;
  for (const LoopPhase phase : {LoopPhase::kKernel, LoopPhase::kProgram, LoopPhase::kCode}) {
    for (const LoopPass& pass : PassesOf(phase)) {
      EXPECT_STREQ(pass.name, AllLoopPasses()[next++].name);
    }
  }
  EXPECT_EQ(next, AllLoopPasses().size());
  EXPECT_EQ(PassesBehind(LoopPhase::kKernel, "simplify-parts"),
            (std::vector<std::string>{"unroll-loops", "simplify-unrolled"}));
  EXPECT_EQ(PassesBehind(LoopPhase::kProgram, "share-functions"),
            std::vector<std::string>{"inline-calls"});
}

// Checks every claim of every pass on random programs. The text after each pass must read back, and
// the program must compute the same as before.
TEST(PipelineTest, ClaimsHoldOnRandomPrograms) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    LoopProgram program;
    program.funcs.push_back(RandomFunc(seed));
    const auto expected = RunOnRandomInputs(program, "f", seed);
    std::vector<std::string> seen;
    LoopPassRun run{.thorough = true};
    run.after = [&](absl::string_view name, const LoopProgram& result) {
      seen.emplace_back(name);
      EXPECT_EQ(CheckRoundTrip(result), absl::OkStatus()) << name << "\n" << ToString(result);
    };
    const LoopPassContext context{
        .vector_bits = AllOf(256), .threads = 3, .small_loops = {.join = true, .operations = 40}};
    for (const LoopPhase phase : {LoopPhase::kKernel, LoopPhase::kProgram, LoopPhase::kCode}) {
      ASSERT_EQ(RunLoopPasses(phase, run, context, program), absl::OkStatus()) << "seed " << seed;
    }
    EXPECT_EQ(seen.size(), AllLoopPasses().size());
    ASSERT_EQ(RunOnRandomInputs(program, "f", seed), expected) << "seed " << seed;
  }
}

// A program with all kinds of loops, two functions that are alike, and one that only calls another.
constexpr char kProgram[] = R"(
constant a: float32[64]
constant b: float32[64] = #1
operator f(x: float32[4, 64]) -> (y: float32[4, 64]) {
  for i in 0..4 parallel {
    for j in 0..64 vectorized {
      y[i, j] = x[i, j] + a[j]
    }
  }
}
operator g(x: float32[4, 64]) -> (y: float32[4, 64]) {
  for i in 0..4 parallel {
    for j in 0..64 vectorized {
      y[i, j] = x[i, j] + b[j]
    }
  }
}
operator h(x: float32[64]) -> (y: float32[64]) {
  for i in 0..2 unrolled {
    y[i + 0] = x[i]
  }
}
internal operator k(x: float32[64]) -> (y: float32[64]) {
  call h(x, y)
}
operator d(x: int8[4], w: int8[4]) -> (y: int32[1]) {
  y[0] = dot<sdot, 4>(7i32, x[ramp(0, 1, 4)], w[ramp(0, 1, 4)])
}
)";

// Each verifier rejects a program without the property that it verifies. The only pass that runs
// claims to give the property and changes nothing.
TEST(PipelineTest, EveryVerifierRejectsSomething) {
  const std::string bytes(256, '\1');
  ParseOptions options;
  options.contents = [&](absl::string_view) { return &bytes; };
  const absl::StatusOr<LoopProgram> program = ParseProgram(kProgram, options);
  ASSERT_TRUE(program.ok()) << program.status();
  Properties rejected = 0;
  for (const PropertyOf<LoopProgram, LoopPassContext>& property : LoopProperties()) {
    const LoopPass liar{
        .name = "lie",
        .doc = "",
        .needs = 0,
        .gives = property.bit,
        .keeps = 0,
        .optional = false,
        .run = [](LoopProgram&, const LoopPassContext&) { return absl::OkStatus(); }};
    LoopProgram copy = *program;
    if (property.bit == kWellFormed) copy.funcs.push_back(copy.funcs[0]);
    // The builders make no loop without iterations, so it is made by hand.
    if (property.bit == kSimplified) {
      const For never = {MakeVar("never"), Expr(0), Expr(0), ForKind::kSerial, copy.funcs[0].body};
      copy.funcs[0].body = Stmt(std::make_shared<const StmtNode>(StmtNode{never}));
    }
    const absl::Status status = RunPassTable<LoopProgram, LoopPassContext>(
        {&liar, 1}, LoopProperties(), 0, {.thorough = true},
        {.keeps_dot = [](const Dot&) { return false; }}, copy);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << property.name;
    EXPECT_NE(std::string(status.message())
                  .find(std::string("after pass lie it is wrong that ") + property.name),
              std::string::npos)
        << status;
    rejected |= property.bit;
  }
  EXPECT_EQ(rejected, kGoal | kSimplified | kShared | kInlined);
}

}  // namespace
}  // namespace kiln::loop
