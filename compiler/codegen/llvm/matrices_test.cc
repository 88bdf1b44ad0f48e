// SPDX-License-Identifier: Apache-2.0
// Tiles of dots in matrix registers: the interpreter's bits with and without them, the
// instructions, and the error if the system refuses the registers.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/test_programs.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/loop/testing/tile_functions.h"
#include "compiler/target/instructions.h"
#include "gtest/gtest.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;

constexpr char kMachine[] = "x86-64-v4 -mattr=+amx-tile,+amx-int8,+amx-bf16";

std::vector<const DotInstruction*> RowsOfMatrices() {
  std::vector<const DotInstruction*> rows;
  for (const DotInstruction& row : DotInstructions()) {
    if (row.geometry == DotGeometry::kMatrix) rows.push_back(&row);
  }
  return rows;
}

loop::TileTypes TypesOf(const DotInstruction& row) {
  return {.a = row.a, .b = row.b, .sum = row.sum};
}

// A tile of `rows` by `columns`, with `steps` steps in each of `parts` iterations. `factor_parts`
// is loop::DotKind::parts.
loop::LoopProgram TileProgram(const DotInstruction& row, int rows, int columns, int steps,
                              int64_t parts = 1, int factor_parts = 1) {
  const loop::DotKind kind = {.instruction = std::string(row.name),
                              .group = row.group,
                              .steps = steps,
                              .column_run = row.column_run,
                              .parts = factor_parts};
  loop::LoopProgram program;
  program.funcs = {loop::TileFunction("f", kind, TypesOf(row), rows, columns, parts)};
  return program;
}

std::vector<std::string> ArgsOf(const loop::LoopProgram& program) {
  std::vector<std::string> args;
  uint32_t seed = 5;
  for (const Buffer& param : program.funcs[0].params) {
    args.push_back(EdgeValues(param->dtype, static_cast<int>(param->num_elements()), seed++));
  }
  return args;
}

size_t Occurrences(absl::string_view text, absl::string_view what) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, what);
  return parts.size() - 1;
}

std::string AssemblyOf(const loop::LoopProgram& program, const std::string& target,
                       const LlvmOptions& options = {}) {
  const auto assembly = EmitAssembly(program, *Target::Parse(target), options);
  EXPECT_TRUE(assembly.ok()) << assembly.status();
  return assembly.value_or("");
}

// By the instruction if this machine has it, by loops on the others. Tiles of 48 rows are always
// loops.
TEST(Matrices, HaveTheBitsOfTheInterpreter) {
  for (const DotInstruction* row : RowsOfMatrices()) {
    for (const int rows : {16, 32, 48}) {
      for (const int columns : {16, 32}) {
        for (const auto& [steps, parts, factor_parts] :
             {std::tuple{1, 1, 1}, {3, 1, 1}, {2, 3, 1}, {1, 2, 3}}) {
          const loop::LoopProgram program =
              TileProgram(*row, rows, columns, steps, parts, factor_parts);
          SCOPED_TRACE(absl::StrCat(row->name, " ", rows, " by ", columns, ", ", steps, " times ",
                                    parts, " of ", factor_parts));
          for (const Target& target : RunnableTargets()) {
            ExpectSameBits(program, "f", ArgsOf(program), target);
          }
        }
      }
    }
  }
}

// The loop has one product for each register of sums. Shapes are set once, and registers are
// released.
TEST(Matrices, AreInstructions) {
  for (const DotInstruction* row : RowsOfMatrices()) {
    for (const int rows : {16, 32}) {
      for (const int columns : {16, 32}) {
        SCOPED_TRACE(absl::StrCat(row->name, " ", rows, " by ", columns));
        const std::string assembly = AssemblyOf(TileProgram(*row, rows, columns, 5, 2), kMachine);
        EXPECT_EQ(Occurrences(assembly, absl::StrCat(row->name, "\t")), rows / 16 * columns / 16)
            << assembly;
        EXPECT_EQ(Occurrences(assembly, "ldtilecfg\t"), 1) << assembly;
        EXPECT_GE(Occurrences(assembly, "tilerelease"), 1) << assembly;
        EXPECT_EQ(Occurrences(assembly, "syscall"), 1) << assembly;
        // Sums stay in registers over all steps.
        EXPECT_EQ(Occurrences(assembly, "tilestored\t"), rows / 16 * columns / 16) << assembly;
      }
    }
  }
}

// Three parts take six products. A register is loaded only if it has to hold another part, and none
// is stored.
TEST(Matrices, AreSixProductsOfThreeParts) {
  for (const DotInstruction* row : RowsOfMatrices()) {
    const std::string assembly = AssemblyOf(TileProgram(*row, 32, 32, 1, 4, 3), kMachine);
    EXPECT_EQ(Occurrences(assembly, absl::StrCat(row->name, "\t")), 6 * 4) << assembly;
    EXPECT_EQ(Occurrences(assembly, "tileloadd\t"), 4 + 3 * 2 + 4 * 2) << assembly;
    EXPECT_EQ(Occurrences(assembly, "tilestored\t"), 4) << assembly;
  }
}

// A called function releases the registers. After the call their shapes are set again before they
// are loaded.
TEST(Matrices, SurviveCalls) {
  for (const DotInstruction* row : RowsOfMatrices()) {
    const loop::DotKind kind = {
        .instruction = std::string(row->name), .group = row->group, .column_run = row->column_run};
    const loop::LoopProgram program = loop::TilesAroundCall(kind, TypesOf(*row), 16, 16);
    const std::string assembly = AssemblyOf(program, kMachine);
    // The call may have been inlined.
    const size_t f = assembly.find("\nf:");
    ASSERT_NE(f, std::string::npos) << assembly;
    const size_t called =
        std::min(assembly.find("callq\t.Lg$local", f), assembly.find("tilerelease", f));
    const size_t set = assembly.find("ldtilecfg", called),
                 load = assembly.find("tileloadd", called);
    ASSERT_NE(load, std::string::npos) << assembly;
    EXPECT_LT(set, load) << assembly;
    for (const Target& target : RunnableTargets()) {
      ExpectSameBits(program, "f", ArgsOf(program), target);
    }
  }
}

// Prefetches are in the loop over steps, the same number after every product.
TEST(Matrices, PrefetchInTheirLoop) {
  const DotInstruction& row = *FindDotInstruction("tdpbssd");
  const loop::DotKind kind = {
      .instruction = std::string(row.name), .group = row.group, .column_run = row.column_run};
  constexpr int64_t kSteps = 3, kLines = 4, kElements = 32 * 64;
  const Buffer a = Param("a", row.a, {kSteps * kElements}),
               b = Param("b", row.b, {kSteps * kElements}),
               sums = Param("sums", row.sum, {32 * 32});
  const loop::Var step = loop::MakeVar("step");
  const loop::Expr at = step * loop::Expr(kElements);
  std::vector<loop::Stmt> body;
  for (int64_t line = 0; line < kLines; ++line) {
    body.push_back(loop::MakePrefetch(b, at + loop::Expr(kElements + 64 * line), 2));
  }
  body.push_back(loop::MakeDotTile(kind, 32, 32, {sums, 0}, {a, at}, {b, at}));
  const loop::LoopProgram program =
      OneFunc({a, b, sums}, 2,
              loop::MakeFor(step, 0, kSteps, loop::ForKind::kSerial, loop::MakeBlock(body)));
  const std::string assembly = AssemblyOf(program, kMachine);
  EXPECT_EQ(Occurrences(assembly, "prefetcht1\t"), kLines) << assembly;
  // There is a prefetch between products, and no store of a register.
  const std::vector<absl::string_view> parts = absl::StrSplit(assembly, "tdpbssd\t");
  ASSERT_EQ(parts.size(), 5);
  for (size_t i = 2; i <= 4; ++i) {
    EXPECT_EQ(Occurrences(parts[i], "prefetcht1\t"), 1) << parts[i];
  }
  for (const Target& target : RunnableTargets()) {
    ExpectSameBits(program, "f", ArgsOf(program), target);
  }
}

TEST(Matrices, AreLoopsElsewhere) {
  const DotInstruction& row = *FindDotInstruction("tdpbssd");
  const loop::LoopProgram fits = TileProgram(row, 32, 32, 3),
                          too_large = TileProgram(row, 48, 32, 3);
  EXPECT_FALSE(absl::StrContains(AssemblyOf(fits, "x86-64-v4"), "tdpbssd"));
  EXPECT_TRUE(absl::StrContains(AssemblyOf(fits, kMachine, {.opt_level = 0}), "tdpbssd"));
  EXPECT_FALSE(absl::StrContains(AssemblyOf(too_large, kMachine), "tdpbssd"));
  // The number of steps is an argument, and may be zero.
  const Buffer a = Param("a", row.a, {4096}), b = Param("b", row.b, {4096}),
               sums = Param("sums", row.sum, {256}), count = Param("count", DType::Int(32), {1});
  const loop::Var step = loop::MakeVar("step");
  const loop::DotKind kind = {
      .instruction = std::string(row.name), .group = row.group, .column_run = row.column_run};
  const loop::Expr at = step * loop::Expr(1024);
  const loop::Expr steps =
      loop::MakeCast(loop::Type::Index(), loop::MakeLoad(count, {loop::Expr(0)}));
  const loop::LoopProgram any =
      OneFunc({a, b, count, sums}, 3,
              loop::MakeFor(step, 0, steps, loop::ForKind::kSerial,
                            loop::MakeDotTile(kind, 16, 16, {sums, 0}, {a, at}, {b, at})));
  for (const int32_t number : {0, 3}) {
    std::vector<std::string> args = ArgsOf(any);
    args[2] = std::string(reinterpret_cast<const char*>(&number), sizeof number);
    for (const Target& target : RunnableTargets()) ExpectSameBits(any, "f", args, target);
  }
  // bfloat16's extension does not have the instruction for bytes.
  EXPECT_FALSE(
      absl::StrContains(AssemblyOf(fits, "x86-64-v4 -mattr=+amx-tile,+amx-bf16"), "tdpbssd"));
}

// Only Linux requires a request.
TEST(Matrices, AreAskedForOnLinux) {
  const loop::LoopProgram program = TileProgram(*FindDotInstruction("tdpbssd"), 16, 16, 1);
  const std::string elsewhere =
      AssemblyOf(program, "x86_64-pc-windows-msvc -vector-bits=512 -mattr=+amx-tile,+amx-int8");
  EXPECT_TRUE(absl::StrContains(elsewhere, "tdpbssd")) << elsewhere;
  EXPECT_FALSE(absl::StrContains(elsewhere, "syscall")) << elsewhere;
}

// Makes all later calls of arch_prctl in this process fail.
bool RefuseArchPrctl() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Matrices, RefusalIsAnError) {
  const Target host = Target::Host();
  if (!host.HasFeature("amx-int8")) GTEST_SKIP() << "this machine has no AMX-INT8";
  const loop::LoopProgram program = TileProgram(*FindDotInstruction("tdpbssd"), 32, 32, 2);
  const auto jit = Jit::Create(program, host);
  ASSERT_TRUE(jit.ok()) << jit.status();
  std::vector<std::string> args = ArgsOf(program);
  std::vector<void*> pointers;
  for (std::string& bytes : args) pointers.push_back(bytes.data());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string before = args[2];
    if (!RefuseArchPrctl()) _exit(2);
    const bool fails = !(*jit)->Run("f", pointers).ok();
    const bool says_so =
        absl::StrContains(JitLastError(), "arch_prctl(ARCH_REQ_XCOMP_PERM, 18) returned -1");
    _exit(fails && says_so && args[2] == before ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "this system filters no calls";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace kiln::codegen
