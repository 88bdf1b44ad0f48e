// SPDX-License-Identifier: Apache-2.0
// Tiles of dots in matrix registers, in C. By intrinsics and by plain C they have the interpreter's
// bits and compile without a warning. They become the instruction if a compiler has it.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/loop/float16_values.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/testing/tile_functions.h"
#include "compiler/target/instructions.h"
#include "gtest/gtest.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;

std::vector<DotInstruction> RowsOfMatrices() {
  std::vector<DotInstruction> rows;
  for (const DotInstruction& row : DotInstructions()) {
    if (row.geometry == DotGeometry::kMatrix) rows.push_back(row);
  }
  return rows;
}

loop::TileTypes TypesOf(const DotInstruction& row) {
  return {.a = row.a, .b = row.b, .sum = row.sum};
}

// A function f0, f1, … for each shape of a tile, with three steps that repeat twice. Two of them
// have factors of three parts.
loop::LoopProgram ProgramOf(const DotInstruction& row) {
  loop::LoopProgram program;
  for (const auto& [rows, columns, parts] : {std::tuple{16, 16, 1},
                                             {16, 32, 1},
                                             {32, 16, 1},
                                             {32, 32, 1},
                                             {32, 32, 3},
                                             {16, 32, 3},
                                             {48, 16, 1}}) {
    const loop::DotKind kind = {.instruction = std::string(row.name),
                                .group = row.group,
                                .steps = 3,
                                .column_run = row.column_run,
                                .parts = parts};
    program.funcs.push_back(loop::TileFunction(absl::StrCat("f", program.funcs.size()), kind,
                                               TypesOf(row), rows, columns, /*repeats=*/2));
  }
  return program;
}

std::string Values(const Buffer& buffer, uint32_t seed) {
  const int64_t count = buffer->num_elements();
  if (buffer->dtype.is_bfloat()) return loop::BFloats(count, seed, /*finite=*/true);
  if (buffer->dtype.is_float()) return loop::SumsOfBFloats(count, seed, /*finite=*/true);
  std::string bytes;
  for (int64_t i = 0; i < count * buffer->dtype.bytes(); ++i) {
    seed = seed * 1664525 + 1013904223;
    bytes.push_back(static_cast<char>(i % 7 == 0 ? 0x80 : i % 5 == 0 ? 0x7f : seed >> 24));
  }
  return bytes;
}

// The sums after running a function of three buffers.
template <typename Run>
std::string SumsOf(const loop::Func& func, const Run& run) {
  std::vector<std::string> bytes;
  for (const Buffer& param : func.params) {
    bytes.push_back(Values(param, static_cast<uint32_t>(bytes.size()) + 1));
  }
  run(bytes[0].data(), bytes[1].data(), bytes[2].data());
  return bytes[2];
}

std::vector<std::string> FlagsOf(const DotForm& form) {
  std::vector<std::string> flags;
  for (const absl::string_view feature : absl::StrSplit(form.features, ',')) {
    flags.push_back(absl::StrCat("-m", feature));
  }
  return flags;
}

class MatricesInC : public testing::TestWithParam<DotInstruction> {
 protected:
  std::string Source() {
    const auto source = EmitC(ProgramOf(GetParam()), Target::Host(), {.module_name = "m"});
    EXPECT_TRUE(source.ok()) << source.status();
    return source.value_or("");
  }
};

TEST_P(MatricesInC, HaveTheBitsOfTheInterpreter) {
  const DotInstruction& row = GetParam();
  const loop::LoopProgram program = ProgramOf(row);
  const std::string source = Source();
  loop::Interpreter interpreter(program);
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (!HasCompiler(compiler)) continue;
    for (const bool by_instruction : {false, true}) {
      if (by_instruction && !Target::Host().HasFeatures(row.forms[0].features)) continue;
      std::vector<std::string> command = {compiler, "-std=c99", "-O2"};
      if (by_instruction) {
        const std::vector<std::string> flags = FlagsOf(row.forms[0]);
        command.insert(command.end(), flags.begin(), flags.end());
      }
      SCOPED_TRACE(absl::StrJoin(command, " "));
      const auto library = LoadedC::Compile(source, command);
      ASSERT_TRUE(library.ok()) << library.status();
      for (const loop::Func& func : program.funcs) {
        const std::string wanted = SumsOf(func, [&](void* a, void* b, void* sums) {
          EXPECT_TRUE(interpreter.Run(func.name, {a, b, sums}).ok());
        });
        const std::string found = SumsOf(func, [&](void* a, void* b, void* sums) {
          auto* f = (*library)->Function<int32_t(void*, void*, void*)>(func.name);
          ASSERT_NE(f, nullptr);
          EXPECT_EQ(f(a, b, sums), 0);
        });
        EXPECT_TRUE(found == wanted) << ToString(func.body);
      }
    }
  }
}

// Both functions have tiles; the caller has one before the call and one after it.
TEST_P(MatricesInC, SurviveCalls) {
  const DotInstruction& row = GetParam();
  const loop::DotKind kind = {
      .instruction = std::string(row.name), .group = row.group, .column_run = row.column_run};
  const loop::LoopProgram program = loop::TilesAroundCall(kind, TypesOf(row), 16, 16);
  const auto source = EmitC(program, Target::Host(), {.module_name = "m"});
  ASSERT_TRUE(source.ok()) << source.status();
  if (!Target::Host().HasFeatures(row.forms[0].features)) GTEST_SKIP() << "no " << row.name;
  std::vector<std::string> command = FlagsOf(row.forms[0]);
  command.insert(command.begin(), {"gcc", "-std=c99", "-O2"});
  const auto library = LoadedC::Compile(*source, command);
  ASSERT_TRUE(library.ok()) << library.status();
  loop::Interpreter interpreter(program);
  const std::string wanted = SumsOf(program.funcs[1], [&](void* a, void* b, void* sums) {
    EXPECT_TRUE(interpreter.Run("f", {a, b, sums}).ok());
  });
  const std::string found = SumsOf(program.funcs[1], [&](void* a, void* b, void* sums) {
    EXPECT_EQ((*library)->Function<int32_t(void*, void*, void*)>("f")(a, b, sums), 0);
  });
  EXPECT_TRUE(found == wanted);
}

// All functions but the last use instructions. The last tile fits in no registers.
TEST_P(MatricesInC, AreInstructions) {
  const DotInstruction& row = GetParam();
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (!HasCompiler(compiler)) continue;
    std::vector<std::string> command = FlagsOf(row.forms[0]);
    command.insert(command.begin(), {compiler, "-std=c99", "-O2"});
    const auto assembly = AssemblyOfC(Source(), command);
    ASSERT_TRUE(assembly.ok()) << assembly.status();
    const std::vector<std::string> functions = absl::StrSplit(*assembly, "\nf");
    ASSERT_EQ(functions.size(), 8u) << *assembly;
    for (size_t f = 1; f < functions.size(); ++f) {
      EXPECT_EQ(absl::StrContains(functions[f], row.name), f < 7) << compiler << functions[f];
      EXPECT_EQ(absl::StrContains(functions[f], "tilerelease"), f < 7) << compiler;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, MatricesInC, testing::ValuesIn(RowsOfMatrices()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kiln::codegen
