// SPDX-License-Identifier: Apache-2.0
// Generated C needs no flags of a specific compiler to compute floats by instructions, to keep
// loops rolled, and to have enough registers for tiles in assembly.
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/loop/parse.h"
#include "gtest/gtest.h"

namespace kiln::codegen {
namespace {

constexpr char kFloats[] = R"(
operator f(a: float32[64], b: float32[64]) -> (out: float32[64]) {
  for i in 0..64 {
    out[i] = fma(a[i], b[i], sqrt(abs(b[i])))
  }
}
)";
constexpr char kTile[] = R"(
operator f(a: int16[64], b: int16[6]) -> (sums: int32[2]) {
  for i in 0..2 {
    sums[ramp(0, 1, 2)] = dot<smlad_taps, 3, run 1>(sums[ramp(0, 1, 2)], interleave(a[ramp(0, 1, 3)], a[ramp(1, 1, 3)]), b[ramp(0, 1, 3)])
  }
}
)";

std::string InC(absl::string_view text, const char* target, bool libm) {
  const absl::StatusOr<loop::LoopProgram> program = loop::ParseProgram(text);
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return "";
  const auto source = EmitC(*program, *Target::Parse(target), {.libm = libm});
  EXPECT_TRUE(source.ok()) << source.status();
  return source.value_or("");
}

// The source as seen by compilers without the builtin functions, such as clang before version 17.
std::string WithoutBuiltins(const std::string& source) {
  return absl::StrReplaceAll(source, {{"__has_builtin(name)", "0"}});
}

void ExpectInstructions(const std::string& source, const std::vector<std::string>& command,
                        const std::vector<std::string>& instructions) {
  if (!HasCompiler(command[0])) return;
  const auto assembly = AssemblyOfC(source, command);
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  for (const std::string& instruction : instructions) {
    EXPECT_TRUE(absl::StrContains(*assembly, instruction)) << command[0] << " " << *assembly;
  }
  for (const char* function : {"fmaf", "sqrtf"}) {
    EXPECT_FALSE(absl::StrContains(*assembly, function)) << command[0] << " " << *assembly;
  }
}

TEST(Flags, FloatsAreInstructionsWithoutFlags) {
  const std::vector<std::string> m4 = {
      "-std=c99", "-O2", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"};
  const std::vector<std::string> rv32 = {"-std=c99", "-O2", "-march=rv32imafc", "-mabi=ilp32f",
                                         "-ffreestanding"};
  const auto with = [](std::vector<std::string> command, const std::vector<std::string>& flags) {
    command.insert(command.end(), flags.begin(), flags.end());
    return command;
  };
  const std::string arm = InC(kFloats, "cortex-m4f", false),
                    riscv = InC(kFloats, "riscv32imafc", false);
  const std::vector<std::string> of_arm = {"vfma.f32", "vsqrt.f32"},
                                 of_riscv = {"fmadd.s", "fsqrt.s"};
  ExpectInstructions(arm, with({"arm-none-eabi-gcc"}, m4), of_arm);
  for (const std::string& source : {arm, WithoutBuiltins(arm)}) {
    ExpectInstructions(source, with({"clang-19", "--target=arm-none-eabi", "-ffreestanding"}, m4),
                       of_arm);
  }
  ExpectInstructions(riscv, with({"riscv64-unknown-elf-gcc"}, rv32), of_riscv);
  for (const std::string& source : {riscv, WithoutBuiltins(riscv)}) {
    ExpectInstructions(source, with({"clang-19", "--target=riscv32-unknown-elf"}, rv32), of_riscv);
  }
  // The same for vectors.
  ExpectInstructions(InC(kFloats, "x86-64-v3", true),
                     {"clang-19", "--target=x86_64-linux-gnu", "-std=c99", "-O2", "-mavx2"},
                     {"vfmadd", "vsqrtps"});
}

TEST(Flags, LoopsOfFirmwareStayLoops) {
  const std::string firmware = InC(kFloats, "cortex-m4f", false);
  EXPECT_TRUE(
      absl::StrContains(firmware, "#define KILN_ROLLED _Pragma(\"clang loop unroll(disable)\")"));
  EXPECT_TRUE(absl::StrContains(firmware, "\n  KILN_ROLLED for (int32_t i = 0; i < 64; ++i) {\n"));
  EXPECT_FALSE(absl::StrContains(InC(kFloats, "x86-64-v3", true), "KILN_ROLLED"));
}

TEST(Flags, TilesHaveAllRegisters) {
  constexpr char kPragma[] = "#pragma GCC optimize(\"omit-frame-pointer\")";
  const std::string tile = InC(kTile, "cortex-m4f", false);
  EXPECT_TRUE(absl::StrContains(tile, "smlad")) << tile;
  EXPECT_TRUE(absl::StrContains(tile, kPragma)) << tile;
  EXPECT_FALSE(absl::StrContains(InC(kFloats, "cortex-m4f", false), kPragma));
}

}  // namespace
}  // namespace kiln::codegen
