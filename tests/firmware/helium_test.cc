// SPDX-License-Identifier: Apache-2.0
// Every operation on vectors of integers that has a spelling in C for Helium, at every width, and
// operations on single numbers for which cores have instructions. They run on extreme and random
// operands, compiled by gcc and clang in an emulator, and as plain C on this machine.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/loop.h"
#include "gtest/gtest.h"
#include "tests/firmware/helium_operations.h"
#include "tests/firmware/object_on_board.h"
#include "tests/firmware/scalar_operations.h"
#ifdef KILN_WITH_LLVM
#include "compiler/codegen/llvm/codegen_llvm.h"
#endif

namespace kiln {
namespace {

loop::LoopProgram Operations() {
  loop::LoopProgram program = HeliumOperations();
  for (loop::Func& func : ScalarOperations()) program.funcs.push_back(std::move(func));
  return program;
}

// Floats by their bits: zero, subnormal, around 1, the largest half, infinite, then any but NaN.
std::string FloatValues(DType dtype) {
  std::vector<uint32_t> extremes = {0, 1, 0x3c00, 0x3c01, 0x7bff, 0x7c00, 0x8000, 0xfbff};
  if (dtype.bits == 32) {
    extremes = {0,          1,          0x007fffff, 0x00800000, 0x33000000, 0x33000001, 0x387fc000,
                0x387fffff, 0x3f800000, 0x3f801000, 0x3f803000, 0x477fe000, 0x477fefff, 0x477ff000,
                0x7f7fffff, 0x7f800000, 0x80000000, 0xbf800000, 0xff800000};
  }
  const uint32_t exponent = dtype.bits == 32 ? 0x7f800000 : 0x7c00;
  uint32_t seed = 7;
  std::string bytes;
  for (size_t i = 0; i < static_cast<size_t>(kElements); ++i) {
    seed = seed * 1664525u + 1013904223u;
    const uint32_t any = dtype.bits == 32 ? seed ^ seed >> 16 : seed >> 3;
    const uint32_t bits = i < extremes.size()            ? extremes[i]
                          : (any & exponent) == exponent ? any ^ exponent
                                                         : any;
    bytes.append(reinterpret_cast<const char*>(&bits), static_cast<size_t>(dtype.bytes()));
  }
  return bytes;
}

// Returns the values of an operand: first, all pairs of extreme values of both operands, then
// random ones.
std::string Values(DType dtype, size_t operand) {
  if (dtype.is_float()) return FloatValues(dtype);
  std::vector<int64_t> extremes = {
      0, 1, 2, 7, 31, 32, 33, 100, dtype.MaxInt(), dtype.MaxInt() - 1, dtype.MaxInt() / 2};
  if (dtype.is_int()) {
    extremes.insert(extremes.end(), {-1, -2, -7, dtype.MinInt(), dtype.MinInt() + 1});
  }
  const auto count = static_cast<int64_t>(extremes.size());
  auto seed = static_cast<uint32_t>(operand);
  std::string bytes;
  for (int64_t i = 0; i < kElements; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const int64_t which = operand == 0 ? i % count : i / count % count;
    const int64_t value =
        i < count * count ? extremes[static_cast<size_t>(which)] : int64_t{seed >> 1};
    bytes.append(reinterpret_cast<const char*>(&value), static_cast<size_t>(dtype.bytes()));
  }
  return bytes;
}

std::string InC(const loop::LoopProgram& program) {
  const auto source =
      codegen::EmitC(program, *Target::Parse("cortex-m55"), {.module_name = "m", .libm = false});
  EXPECT_TRUE(source.ok()) << source.status();
  return source.value_or("");
}

std::string Input(const loop::Func& func, size_t i) { return Values(func.params[i]->dtype, i); }

// Runs a function on its operands, and returns the stored result.
std::string Output(const loop::Func& func,
                   const std::function<void(const std::vector<void*>&)>& run) {
  std::string a = Input(func, 0), b = Input(func, 1);
  std::string out(static_cast<size_t>(func.params[2]->num_bytes()), '\x5a');
  run({a.data(), b.data(), out.data()});
  return out;
}

std::vector<std::string> Wanted(const loop::LoopProgram& program) {
  loop::Interpreter interpreter(program);
  std::vector<std::string> outputs;
  for (const loop::Func& func : program.funcs) {
    outputs.push_back(Output(func, [&](const std::vector<void*>& args) {
      EXPECT_TRUE(interpreter.Run(func.name, args).ok());
    }));
  }
  return outputs;
}

TEST(Helium, PlainCHasTheBitsOfTheInterpreter) {
  const loop::LoopProgram program = Operations();
  const std::string source = InC(program);
  const std::vector<std::string> wanted = Wanted(program);
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (!codegen::HasCompiler(compiler)) continue;
    const auto library = codegen::LoadedC::Compile(source, {compiler, "-std=c99", "-O2"});
    ASSERT_TRUE(library.ok()) << library.status();
    for (size_t i = 0; i < program.funcs.size(); ++i) {
      const loop::Func& func = program.funcs[i];
      const std::string found = Output(func, [&](const std::vector<void*>& args) {
        auto* f = (*library)->Function<int32_t(void*, void*, void*)>(func.name);
        ASSERT_NE(f, nullptr);
        EXPECT_EQ(f(args[0], args[1], args[2]), 0);
      });
      EXPECT_EQ(found, wanted[i]) << func.name << " by " << compiler;
    }
  }
}

uint32_t Checksum(const std::string& bytes) {
  uint32_t sum = 2166136261u;
  for (const char c : bytes) sum = (sum ^ static_cast<uint8_t>(c)) * 16777619u;
  return sum;
}

std::string Array(const std::string& name, const std::string& bytes) {
  std::vector<int> numbers;
  for (const char c : bytes) numbers.push_back(static_cast<uint8_t>(c));
  return absl::StrCat("static const uint8_t ", name, "[] = {", absl::StrJoin(numbers, ","), "};\n");
}

std::string OperandName(const loop::Func& func, size_t i) {
  const DType dtype = func.params[i]->dtype;
  return absl::StrCat("kiln_operand_", dtype.ToString(), "_", i);
}

// Returns a program that runs all functions, prints the names of those with unexpected bits, and
// exits with 1 if there are any.
std::string MainOf(const loop::LoopProgram& program, const std::vector<std::string>& wanted) {
  std::string text = "#include <stdint.h>\n", calls;
  std::vector<std::string> names;
  absl::StrAppend(&text,
                  "#include \"runtime_crt/platform/bare_metal/semihosting.h\"\n"
                  "static uint32_t kiln_out[",
                  kElements,
                  "];\n"
                  "static uint32_t kiln_checksum(uint32_t bytes) {\n"
                  "  uint32_t sum = 2166136261u;\n"
                  "  for (uint32_t i = 0; i < bytes; ++i) {\n"
                  "    sum = (sum ^ ((const uint8_t*)kiln_out)[i]) * 16777619u;\n"
                  "  }\n"
                  "  return sum;\n"
                  "}\n");
  for (size_t f = 0; f < program.funcs.size(); ++f) {
    const loop::Func& func = program.funcs[f];
    for (const size_t i : {0, 1}) {
      const std::string name = OperandName(func, i);
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      names.push_back(name);
      absl::StrAppend(&text, "__attribute__((aligned(4))) ", Array(name, Input(func, i)));
    }
    absl::StrAppend(&text, "int32_t ", func.name, "(void*, void*, void*);\n");
    absl::StrAppend(&calls, "  ", func.name, "((void*)", OperandName(func, 0), ", (void*)",
                    OperandName(func, 1), ", kiln_out);\n  if (kiln_checksum(",
                    func.params[2]->num_bytes(), "u) != ", Checksum(wanted[f]),
                    "u) {\n    SemihostingWrite(\"", func.name, "\\n\");\n    status = 1;\n  }\n");
  }
  return absl::StrCat(text, "int main(void) {\n  int status = 0;\n", calls,
                      "  return status;\n}\n");
}

tools::Board TheBoard() { return *tools::FindBoard("cortex-m55"); }

// Compiles C source, and returns the path of the object.
std::string Compiled(const std::string& source, const std::vector<std::string>& compiler,
                     const char* name) {
  const std::string input = InTemporaryFolder(name) + ".c", object = InTemporaryFolder(name) + ".o";
  std::ofstream(input) << source;
  OutputOf(absl::StrCat(absl::StrJoin(compiler, " "), " ", FlagsOf(TheBoard()),
                        " -std=c99 -ffreestanding -I. -w -c ", input, " -o ", object));
  return object;
}

TEST(Helium, IntrinsicsHaveTheBitsOfTheInterpreter) {
  if (!HasBoard()) GTEST_SKIP() << "no arm-none-eabi-gcc, or no emulator";
  const loop::LoopProgram program = Operations();
  const std::string source = InC(program), main = MainOf(program, Wanted(program));
  const absl::Status checked =
      codegen::CheckC(source, {"arm-none-eabi-gcc", "-std=c99", "-O2", FlagsOf(TheBoard())});
  EXPECT_TRUE(checked.ok()) << checked;
  for (const char* level : {"-O2", "-Os"}) {
    EXPECT_EQ(
        RunOnBoard(TheBoard(), Compiled(source, {"arm-none-eabi-gcc", level}, "functions"), main),
        "");
  }
  if (!codegen::HasCompiler("clang-19")) return;
  const std::vector<std::string> clang = {"clang-19", "--target=arm-none-eabi", "-O2"};
  const absl::Status checked_by_clang = codegen::CheckC(
      source,
      {"clang-19", "--target=arm-none-eabi", "-std=c99", "-ffreestanding", FlagsOf(TheBoard())});
  EXPECT_TRUE(checked_by_clang.ok()) << checked_by_clang;
  EXPECT_EQ(RunOnBoard(TheBoard(), Compiled(source, clang, "functions"), main), "");
}

TEST(Helium, CHasTheInstructions) {
  if (!HasBoard()) GTEST_SKIP() << "no arm-none-eabi-gcc, or no emulator";
  const auto assembly = codegen::AssemblyOfC(
      InC(Operations()), {"arm-none-eabi-gcc", "-std=c99", "-O2", FlagsOf(TheBoard())});
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  for (const char* instruction : {"ssat ", "usat ", "asr #23", "vsqrt.f32", "vcvtb.f16.f32",
                                  "vcvtb.f32.f16", "vqmovnb.s32"}) {
    EXPECT_TRUE(absl::StrContains(*assembly, instruction)) << instruction;
  }
}

#ifdef KILN_WITH_LLVM
TEST(Helium, ObjectsHaveTheBitsOfTheInterpreter) {
  if (!HasBoard()) GTEST_SKIP() << "no arm-none-eabi-gcc, or no emulator";
  const loop::LoopProgram program = Operations();
  const auto object = codegen::EmitObject(program, *Target::Parse("cortex-m55"));
  ASSERT_TRUE(object.ok()) << object.status();
  const std::string path = InTemporaryFolder("functions.o");
  std::ofstream(path, std::ios::binary) << *object;
  EXPECT_EQ(RunOnBoard(TheBoard(), path, MainOf(program, Wanted(program))), "");
}
#endif

}  // namespace
}  // namespace kiln
