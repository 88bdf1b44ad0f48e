// SPDX-License-Identifier: Apache-2.0
// Operations on floats and conversions from and to floats, as machine code for cores with a
// floating-point unit, at every width. They give the interpreter's bits, on boards in an emulator.
// Also checks the functions that generated C calls for them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/testing/every_operation.h"
#include "gtest/gtest.h"
#include "tests/firmware/object_on_board.h"
#ifdef KILN_WITH_LLVM
#include "compiler/codegen/llvm/codegen_llvm.h"
#endif

namespace kiln {
namespace {

using loop::ElementOperation;

constexpr size_t kBytes = loop::kOperationElements * sizeof(double);

struct Core {
  const char* target;
  size_t operations_of_image;  // number that fits into its board's flash
};
constexpr Core kCores[] = {{"cortex-m4f", 200}, {"cortex-m55", 20}};

std::vector<ElementOperation> OfFloats(loop::Widths widths) {
  std::vector<ElementOperation> operations;
  for (ElementOperation& operation : loop::EveryOperation(widths)) {
    if (operation.from.is_float() || operation.to.is_float()) {
      operations.push_back(std::move(operation));
    }
  }
  return operations;
}

loop::LoopProgram ProgramOf(const std::vector<ElementOperation>& operations) {
  loop::LoopProgram program;
  for (const ElementOperation& operation : operations) program.funcs.push_back(operation.func);
  return program;
}

// Returns the expected result, padded with zeros, with one bit pattern for every NaN.
std::string Wanted(const loop::LoopProgram& program, const ElementOperation& operation) {
  std::string a = loop::OperandValues(operation, 0), b = loop::OperandValues(operation, 1);
  std::string out(kBytes, '\0');
  EXPECT_TRUE(
      loop::Interpreter(program).Run(operation.func.name, {a.data(), b.data(), out.data()}).ok());
  const auto one_nan = [&out](auto nan) {
    for (size_t i = 0; i < static_cast<size_t>(loop::kOperationElements); ++i) {
      decltype(nan) value;
      std::memcpy(&value, &out[i * sizeof value], sizeof value);
      if (value != value) std::memcpy(&out[i * sizeof value], &nan, sizeof nan);
    }
  };
  if (operation.to == DType::Float(32)) one_nan(std::numeric_limits<float>::quiet_NaN());
  if (operation.to == DType::Float(64)) one_nan(std::numeric_limits<double>::quiet_NaN());
  return out;
}

uint32_t Checksum(const std::string& bytes) {
  uint32_t sum = 2166136261u;
  for (const char c : bytes) sum = (sum ^ static_cast<uint8_t>(c)) * 16777619u;
  return sum;
}

constexpr char kMainHead[] = R"(#include <stdint.h>
#include <string.h>
#include "runtime_crt/platform/bare_metal/semihosting.h"
static uint64_t out[OUT_BYTES / 8];
static void OneNan(uint32_t bits) {
  uint32_t i;
  for (i = 0; i < OUT_BYTES / 8; ++i) {
    uint32_t* words = (uint32_t*)(void*)&out[i];
    if (bits == 32) {
      if ((words[0] & 0x7fffffffu) > 0x7f800000u) words[0] = 0x7fc00000u;
      if ((words[1] & 0x7fffffffu) > 0x7f800000u) words[1] = 0x7fc00000u;
    } else if (bits == 64 && (out[i] & 0x7fffffffffffffffu) > 0x7ff0000000000000u) {
      out[i] = 0x7ff8000000000000u;
    }
  }
}
static int Differs(int32_t (*f)(const void*, const void*, void*), const void* a, const void* b,
                   uint32_t nan_bits, uint32_t wanted, const char* name) {
  uint32_t i, sum = 2166136261u;
  memset(out, 0, sizeof(out));
  f(a, b, out);
  OneNan(nan_bits);
  for (i = 0; i < OUT_BYTES; ++i) sum = (sum ^ ((const uint8_t*)out)[i]) * 16777619u;
  if (sum == wanted) return 0;
  SemihostingWrite(name);
  SemihostingWrite("\n");
  return 1;
}
)";

std::string Array(const std::string& name, const std::string& bytes) {
  std::vector<int> numbers;
  for (const char c : bytes) numbers.push_back(static_cast<uint8_t>(c));
  return absl::StrCat("static const uint8_t ", name, "[] __attribute__((aligned(8))) = {",
                      absl::StrJoin(numbers, ","), "};\n");
}

// Returns a program that runs the operations, and prints the names of those whose bits differ from
// the interpreter's.
std::string MainOf(const std::vector<ElementOperation>& operations) {
  const loop::LoopProgram program = ProgramOf(operations);
  std::string text = absl::StrCat("#define OUT_BYTES ", kBytes, "\n", kMainHead), calls;
  std::vector<std::string> arrays;
  for (const ElementOperation& operation : operations) {
    std::vector<std::string> names;
    for (const size_t i : {0, 1}) {
      const std::string values = loop::OperandValues(operation, i);
      size_t place = 0;
      while (place < arrays.size() && arrays[place] != values) ++place;
      names.push_back(absl::StrCat("values_", place));
      if (place == arrays.size()) {
        arrays.push_back(values);
        absl::StrAppend(&text, Array(names.back(), values));
      }
    }
    const std::string& name = operation.func.name;
    const int nan_bits = operation.to.is_float() && operation.to.bits >= 32 ? operation.to.bits : 0;
    absl::StrAppend(&text, "int32_t ", name, "(const void*, const void*, void*);\n");
    absl::StrAppend(&calls, "  wrong |= Differs(", name, ", ", names[0], ", ", names[1], ", ",
                    nan_bits, ", ", Checksum(Wanted(program, operation)), "u, \"", name, "\");\n");
  }
  return absl::StrCat(text, "int main(void) {\n  int wrong = 0;\n", calls, "  return wrong;\n}\n");
}

#ifdef KILN_WITH_LLVM
TEST(Operations, ObjectsHaveTheBitsOfTheInterpreterAtEveryWidth) {
  if (!HasBoard()) GTEST_SKIP() << "no arm-none-eabi-gcc, or no emulator";
  const std::vector<ElementOperation> all = OfFloats(loop::Widths::kAll);
  for (const Core& core : kCores) {
    const tools::Board board = *tools::FindBoard(core.target);
    for (size_t first = 0; first < all.size(); first += core.operations_of_image) {
      const std::vector<ElementOperation> some(
          all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() +
              static_cast<std::ptrdiff_t>(std::min(all.size(), first + core.operations_of_image)));
      const auto object = codegen::EmitObject(ProgramOf(some), *Target::Parse(board.target));
      ASSERT_TRUE(object.ok()) << object.status();
      const std::string path = InTemporaryFolder("operations.o");
      std::ofstream(path, std::ios::binary) << *object;
      EXPECT_EQ(RunOnBoard(board, path, MainOf(some)), "") << board.target;
    }
  }
}
#endif

std::string NamesOfUndefined(const std::string& object) {
  return OutputOf(absl::StrCat("arm-none-eabi-nm -u ", object));
}

// Compiles with the documented flags only.
TEST(Operations, CCallsNoFunctionOfTheMathematicsLibrary) {
  if (!HasBoard()) GTEST_SKIP() << "no arm-none-eabi-gcc, or no emulator";
  const std::vector<ElementOperation> operations = OfFloats(loop::Widths::kOne);
  for (const Core& core : kCores) {
    const tools::Board board = *tools::FindBoard(core.target);
    const auto source = codegen::EmitC(ProgramOf(operations), *Target::Parse(board.target),
                                       {.module_name = "m", .libm = false});
    ASSERT_TRUE(source.ok()) << source.status();
    const std::string input = InTemporaryFolder("operations.c"),
                      object = InTemporaryFolder("of_c.o");
    // The C code as seen by an older clang without the builtin functions.
    const std::string old = InTemporaryFolder("old.c");
    std::ofstream(input) << *source;
    std::ofstream(old) << absl::StrReplaceAll(*source, {{"__has_builtin(name)", "0"}});
    std::vector<std::string> commands = {absl::StrCat("arm-none-eabi-gcc ", input)};
    if (codegen::HasCompiler("clang-19")) {
      for (const std::string& file : {input, old}) {
        commands.push_back(absl::StrCat("clang-19 --target=arm-none-eabi -ffreestanding ", file));
      }
    }
    for (const std::string& command : commands) {
      OutputOf(absl::StrCat(command, " -std=c99 -O2 -ffp-contract=off ", FlagsOf(board), " -c -o ",
                            object));
      for (const absl::string_view line : absl::StrSplit(NamesOfUndefined(object), '\n')) {
        const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
        if (words.empty()) continue;
        EXPECT_TRUE(absl::StartsWith(words.back(), "__aeabi_")) << command << ": " << words.back();
        EXPECT_FALSE(absl::StartsWith(words.back(), "__aeabi_f") &&
                     !absl::StartsWith(words.back(), "__aeabi_f2"))
            << command << ": " << words.back();
      }
      EXPECT_EQ(RunOnBoard(board, object, MainOf(operations)), "") << command;
    }
  }
}

}  // namespace
}  // namespace kiln
