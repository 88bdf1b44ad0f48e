// SPDX-License-Identifier: Apache-2.0
// Tiles of dots in registers that hold matrices, in C: the bits of the interpreter by intrinsics and by plain
// C, without a warning, and the instruction where a compiler knows it.
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
#include "compiler/loop/dot_tile.h"
#include "compiler/loop/float16_values.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/loop.h"
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

Buffer Param(const char* name, DType dtype, int64_t elements) {
  return loop::MakeBuffer(name, dtype, {elements}, loop::BufferScope::kParam);
}

// A function for each shape of a tile, each of three steps, twice: f0, f1, …; two have factors of three parts.
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
    const int terms = kind.steps * row.group * parts;
    const Buffer a = Param("a", row.a, int64_t{2} * rows * terms),
                 b = Param("b", row.b, int64_t{2} * columns * terms),
                 sums = Param("sums", row.sum, int64_t{rows} * columns);
    const loop::Var part = loop::MakeVar("part");
    program.funcs.push_back(
        {.name = absl::StrCat("f", program.funcs.size()),
         .params = {a, b, sums},
         .num_inputs = 2,
         .body = loop::MakeFor(
             part, 0, 2, loop::ForKind::kSerial,
             loop::MakeDotTile(kind, rows, columns, {sums, 0}, {a, part * loop::Expr(rows * terms)},
                               {b, part * loop::Expr(columns * terms)}))});
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

// The sums behind a function of three buffers.
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

// Both functions have tiles; the caller has one before the call, and one behind it.
TEST_P(MatricesInC, SurviveCalls) {
  const DotInstruction& row = GetParam();
  const loop::DotKind kind = {
      .instruction = std::string(row.name), .group = row.group, .column_run = row.column_run};
  const int64_t elements = int64_t{16} * row.group;
  const auto func = [&](const char* name, const std::string& callee) {
    const Buffer a = Param("a", row.a, elements), b = Param("b", row.b, elements),
                 sums = Param("sums", row.sum, 256);
    const loop::Stmt tile = loop::MakeDotTile(kind, 16, 16, {sums, 0}, {a, 0}, {b, 0});
    std::vector<loop::Stmt> body = {tile};
    if (!callee.empty()) {
      body.push_back(loop::MakeCall(callee, {{a, 0}, {b, 0}, {sums, 0}}));
      body.push_back(tile);
    }
    return loop::Func{.name = name,
                      .params = {a, b, sums},
                      .num_inputs = 2,
                      .body = loop::MakeBlock(std::move(body))};
  };
  loop::LoopProgram program;
  program.funcs = {func("g", ""), func("f", "g")};
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

// In all functions but the last, whose tile no registers hold.
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
