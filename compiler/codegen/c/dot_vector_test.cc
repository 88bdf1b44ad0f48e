// SPDX-License-Identifier: Apache-2.0
// Vectors of dots in C: every form in the table of instructions that C has a spelling for. By
// intrinsics and by plain C it computes the interpreter's bits, compiles without a warning, and
// becomes the instruction.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
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
#include "compiler/target/instructions.h"
#include "gtest/gtest.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::BufferScope;
using loop::Expr;

constexpr int kSteps = 24;

// The groups that the sums are computed of. kApart: the elements of a group are not neighbors;
// kNumbers: they are numbers.
enum class Factors { kOneRow, kOneColumn, kPaired, kTwoByTwo, kApart, kNumbers };

struct Case {
  Factors factors;
  bool narrow = false;  // columns are bytes that have to be extended
};

// All cases of a row that C has a spelling for.
std::vector<Case> CasesOf(const DotInstruction& row, int lanes) {
  if (row.geometry == DotGeometry::kOuter) return {{Factors::kTwoByTwo}};
  std::vector<Case> cases = {{Factors::kOneRow}, {Factors::kOneColumn}, {Factors::kPaired}};
  if (row.widens_in_steps) {
    cases.insert(cases.end(), {{Factors::kOneRow, true}, {Factors::kPaired, true}});
  }
  const bool is_apart =
      row.IsOfArch("x86_64") ? row.a == DType::Int(16) && lanes > 4 : row.group == 4;
  if (is_apart) cases.insert(cases.end(), {{Factors::kApart}, {Factors::kNumbers}});
  return cases;
}

Buffer Param(const char* name, DType dtype, int64_t elements) {
  return loop::MakeBuffer(name, dtype, {elements}, BufferScope::kParam);
}

// Elements of a group that are not adjacent: loads of the instruction's type, loads of bytes if it
// reads words, and numbers.
Expr Apart(const DotInstruction& row, int lanes, bool numbers, const Buffer& a, const Buffer& bytes,
           const Expr& step) {
  const Expr at = loop::MakeRamp(step * Expr(lanes), 1, lanes);
  std::vector<Expr> elements;
  for (int k = 0; k < row.group; ++k) {
    const Expr number = loop::IntConst(loop::Type::Of(row.a), 5 - k * (row.a.is_int() ? 9 : 1));
    const Expr element = k % 3 == 2   ? loop::MakeBroadcast(number, lanes)
                         : k % 2 == 0 ? loop::MakeLoad(a, {at})
                                      : loop::MakeCast(row.a, loop::MakeLoad(bytes, {at}));
    elements.push_back(numbers ? number : element);
  }
  return loop::MakeInterleave(std::move(elements));
}

// sums[lane] += dot, over kSteps groups.
loop::Func FuncOf(const DotInstruction& row, int lanes, const Case& c, const std::string& name) {
  const bool apart = c.factors == Factors::kApart || c.factors == Factors::kNumbers;
  const int rows = c.factors == Factors::kTwoByTwo ? 2
                   : c.factors == Factors::kOneRow ? 1
                                                   : lanes,
            columns = c.factors == Factors::kTwoByTwo    ? 2
                      : c.factors == Factors::kOneColumn ? 1
                                                         : lanes;
  const DType of_bytes = row.a.bits == 8 ? row.a : DType::UInt(8);
  const Buffer a = Param("a", row.a, kSteps * row.group * rows),
               bytes = Param("bytes", of_bytes, kSteps * row.group * rows),
               b = Param("b", c.narrow ? DType::Int(8) : row.b, kSteps * row.group * columns),
               sums = Param("sums", row.sum, lanes);
  const loop::Var i = loop::MakeVar("i");
  const auto groups = [&](const Buffer& buffer, int count) {
    const int width = count * row.group;
    const Expr first = i * Expr(width);
    return loop::MakeLoad(buffer, {width == 1 ? first : loop::MakeRamp(first, 1, width)});
  };
  const Expr of_rows =
      apart ? Apart(row, lanes, c.factors == Factors::kNumbers, a, bytes, i) : groups(a, rows);
  const Expr of_columns = c.narrow ? loop::MakeCast(row.b, groups(b, columns)) : groups(b, columns);
  const Expr at = loop::MakeRamp(Expr(0), 1, lanes);
  const Expr dot = loop::MakeDot({.instruction = std::string(row.name), .group = row.group},
                                 loop::MakeLoad(sums, {at}), of_rows, of_columns);
  EXPECT_TRUE(HasSpellingInC(*dot.As<loop::Dot>())) << ToString(dot);
  return {.name = name,
          .params = {a, bytes, b, sums},
          .num_inputs = 3,
          .body = loop::MakeFor(i, 0, kSteps, loop::ForKind::kSerial,
                                loop::MakeStore(sums, {at}, dot))};
}

// A function for each case: f0, f1, …
loop::LoopProgram ProgramOf(const DotInstruction& row, int lanes) {
  loop::LoopProgram program;
  for (const Case& c : CasesOf(row, lanes)) {
    program.funcs.push_back(FuncOf(row, lanes, c, absl::StrCat("f", program.funcs.size())));
  }
  return program;
}

// The smallest and the largest values first, followed by others in an irregular order.
std::string Values(DType dtype, int64_t count, uint32_t seed) {
  if (dtype.is_bfloat()) return loop::BFloats(count, seed, /*finite=*/true);
  if (dtype.is_float()) return loop::SumsOfBFloats(count, seed, /*finite=*/true);
  std::string bytes;
  const int64_t min = dtype.MinInt(), max = dtype.MaxInt();
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    const int64_t value =
        i < 2 * kSteps ? (i % 3 == 0 ? max : min) : int64_t{seed >> 9} - (1 << 22);
    bytes.append(reinterpret_cast<const char*>(&value), static_cast<size_t>(dtype.bytes()));
  }
  return bytes;
}

// Runs a function on its four buffers, and returns the last one, which it changes.
template <typename Run>
std::string SumsOf(const loop::Func& func, const Run& run) {
  std::vector<std::string> bytes;
  std::vector<void*> args;
  for (const Buffer& param : func.params) {
    bytes.push_back(
        Values(param->dtype, param->num_elements(), static_cast<uint32_t>(bytes.size() * 7 + 1)));
  }
  for (std::string& buffer : bytes) args.push_back(buffer.data());
  run(args);
  return bytes.back();
}

std::string InC(const loop::LoopProgram& program) {
  const auto source = EmitC(program, Target::Host(), {.module_name = "m"});
  EXPECT_TRUE(source.ok()) << source.status();
  return source.value_or("");
}

// Compiler flags for the features of an x86 form.
std::vector<std::string> FlagsOf(const DotForm& form) {
  std::vector<std::string> flags;
  for (const absl::string_view feature : absl::StrSplit(form.features, ',', absl::SkipEmpty())) {
    flags.push_back(absl::StrCat("-m", feature));
  }
  if (form.lanes == 16) flags.push_back("-mavx512bw");
  return flags;
}

void ExpectBits(const loop::LoopProgram& program, const std::string& source,
                const std::vector<std::string>& command) {
  SCOPED_TRACE(absl::StrJoin(command, " "));
  const auto library = LoadedC::Compile(source, command);
  ASSERT_TRUE(library.ok()) << library.status();
  loop::Interpreter interpreter(program);
  for (const loop::Func& func : program.funcs) {
    const std::string wanted = SumsOf(func, [&](const std::vector<void*>& args) {
      EXPECT_TRUE(interpreter.Run(func.name, args).ok());
    });
    const std::string found = SumsOf(func, [&](const std::vector<void*>& args) {
      auto* f = (*library)->Function<int32_t(void*, void*, void*, void*)>(func.name);
      ASSERT_NE(f, nullptr);
      EXPECT_EQ(f(args[0], args[1], args[2], args[3]), 0);
    });
    EXPECT_EQ(found, wanted) << ToString(func.body);
  }
}

struct FormCase {
  const DotInstruction* row;
  const DotForm* form;
};

std::vector<FormCase> FormsInC() {
  std::vector<FormCase> cases;
  for (const DotInstruction& row : DotInstructions()) {
    if (row.geometry == DotGeometry::kMatrix) continue;  // matrices_test.cc
    for (const DotForm& form : row.forms) {
      if (!form.c.empty()) cases.push_back({&row, &form});
    }
  }
  return cases;
}

class DotVectorTest : public testing::TestWithParam<FormCase> {};

TEST_P(DotVectorTest, HasTheBitsOfTheInterpreter) {
  const auto& [row, form] = GetParam();
  const bool runs_here =
      row->IsOfArch(Target::Host().triple) && Target::Host().HasFeatures(form->features);
  const loop::LoopProgram program = ProgramOf(*row, form->lanes);
  const std::string source = InC(program);
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (!HasCompiler(compiler)) continue;
    ExpectBits(program, source, {compiler, "-std=c99", "-O1"});
    if (!runs_here) continue;
    std::vector<std::string> command = FlagsOf(*form);
    command.insert(command.begin(), {compiler, "-std=c99", "-O2"});
    ExpectBits(program, source, command);
  }
}

// Replaces all NaNs in `bytes`, which are float32, by the same NaN.
std::string WithOneNan(std::string bytes) {
  for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    float value;
    std::memcpy(&value, &bytes[i], sizeof value);
    if (std::isnan(value)) value = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(&bytes[i], &value, sizeof value);
  }
  return bytes;
}

// Infinities, NaNs, and sums near the smallest normal float32, with one product each.
TEST(DotVectorsTest, BFloatsOfAnyKind) {
  constexpr int64_t kSums = 1 << 14;
  const DotInstruction& row = *FindDotInstruction("vdpbf16ps");
  for (const DotForm& form : row.forms) {
    const int factors = row.group * form.lanes;
    const Buffer a = Param("a", row.a, row.group * kSums), b = Param("b", row.b, row.group * kSums),
                 sums = Param("sums", row.sum, kSums);
    const loop::Var i = loop::MakeVar("i");
    const auto at = [&](int lanes) { return loop::MakeRamp(i * Expr(lanes), 1, lanes); };
    const Expr place = at(form.lanes);
    const Expr dot = loop::MakeDot({.instruction = std::string(row.name), .group = row.group},
                                   loop::MakeLoad(sums, {place}), loop::MakeLoad(a, {at(factors)}),
                                   loop::MakeLoad(b, {at(factors)}));
    loop::LoopProgram program;
    program.funcs.push_back({.name = "f",
                             .params = {a, b, sums},
                             .num_inputs = 2,
                             .body = loop::MakeFor(i, 0, kSums / form.lanes, loop::ForKind::kSerial,
                                                   loop::MakeStore(sums, {place}, dot))});
    const std::string source = InC(program);
    const auto result_of = [&](const auto& run) {
      std::string x = loop::BFloats(row.group * kSums, 1, false),
                  y = loop::BFloats(row.group * kSums, 2, false),
                  result = loop::SumsOfBFloats(kSums, 3, false);
      run(x.data(), y.data(), result.data());
      return WithOneNan(result);
    };
    loop::Interpreter interpreter(program);
    const std::string wanted = result_of(
        [&](void* x, void* y, void* s) { EXPECT_TRUE(interpreter.Run("f", {x, y, s}).ok()); });
    const bool runs_here =
        row.IsOfArch(Target::Host().triple) && Target::Host().HasFeatures(form.features);
    for (const char* compiler : {"gcc", "clang-19"}) {
      if (!HasCompiler(compiler)) continue;
      for (const bool by_instruction : {false, true}) {
        if (by_instruction && !runs_here) continue;
        std::vector<std::string> command =
            by_instruction ? FlagsOf(form) : std::vector<std::string>();
        command.insert(command.begin(), {compiler, "-std=c99", "-O2"});
        SCOPED_TRACE(absl::StrJoin(command, " "));
        const auto library = LoadedC::Compile(source, command);
        ASSERT_TRUE(library.ok()) << library.status();
        auto* f = (*library)->Function<int32_t(void*, void*, void*)>("f");
        ASSERT_NE(f, nullptr);
        EXPECT_TRUE(result_of([&](void* x, void* y, void* s) { EXPECT_EQ(f(x, y, s), 0); }) ==
                    wanted);
      }
    }
  }
}

// The text of a function in assembly.
absl::string_view FunctionOf(absl::string_view assembly, const std::string& name) {
  const size_t begin = assembly.find(absl::StrCat("\n", name, ":"));
  const size_t end = assembly.find(".cfi_endproc", begin);
  return begin == absl::string_view::npos ? "" : assembly.substr(begin, end - begin);
}

TEST_P(DotVectorTest, BecomesTheInstruction) {
  if (!HasCompiler("clang-19")) GTEST_SKIP() << "no clang-19";
  const auto& [row, form] = GetParam();
  // Vectorization by the compiler is off, as it might use the same instruction.
  std::vector<std::string> flags = {"clang-19",       "-std=c99",       "-O2",
                                    "-ffreestanding", "-fno-vectorize", "-fno-slp-vectorize"};
  if (row->IsOfArch("x86_64")) {
    flags.push_back("--target=x86_64-linux-gnu");
    for (const std::string& flag : FlagsOf(*form)) flags.push_back(flag);
  } else if (row->IsOfArch("aarch64")) {
    flags.push_back("--target=aarch64-linux-gnu");
    flags.push_back(absl::StrCat("-march=armv8.2-a", form->features.empty() ? "" : "+",
                                 absl::StrReplaceAll(form->features, {{",", "+"}})));
  } else {
    flags.push_back("--target=riscv64-linux-gnu");
    flags.push_back(absl::StrCat("-march=rv64gcv_zvl", 32 * form->lanes, "b"));
  }
  const loop::LoopProgram program = ProgramOf(*row, form->lanes);
  const auto assembly = AssemblyOfC(InC(program), flags);
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  // SSE's mnemonics lack the v.
  const bool is_sse = row->IsOfArch("x86_64") && form->features.empty();
  const absl::string_view mnemonic = row->name.substr(is_sse ? 1 : 0);
  for (const loop::Func& func : program.funcs) {
    const absl::string_view text = FunctionOf(*assembly, func.name);
    EXPECT_TRUE(absl::StrContains(text, mnemonic)) << ToString(func.body) << text;
  }
}

// Dots without a spelling in C are computed sum by sum.
TEST(DotVectorsTest, OthersHaveNoSpelling) {
  const Buffer a = Param("a", DType::Int(16), 64), b = Param("b", DType::Int(8), 64),
               sums = Param("sums", DType::Int(32), 64);
  const auto neighbours = [](const Buffer& buffer, int stride, int lanes) {
    return loop::MakeLoad(buffer, {loop::MakeRamp(Expr(0), stride, lanes)});
  };
  const auto has_spelling = [&](const char* name, int lanes, const Expr& x, const Expr& y) {
    return HasSpellingInC(
        *loop::MakeDot({.instruction = name, .group = 2}, neighbours(sums, 1, lanes), x, y)
             .As<loop::Dot>());
  };
  const Expr row = neighbours(a, 1, 2);
  const auto words = [&](const Expr& bytes) { return loop::MakeCast(DType::Int(16), bytes); };
  EXPECT_TRUE(has_spelling("vpmaddwd", 8, row, words(neighbours(b, 1, 16))));
  EXPECT_FALSE(has_spelling("vpmaddwd", 32, row, words(neighbours(b, 1, 64))));
  EXPECT_FALSE(has_spelling("vpmaddwd", 8, row, words(neighbours(b, 2, 16))));
  EXPECT_FALSE(has_spelling("vpmaddwd", 8, neighbours(a, 3, 2), words(neighbours(b, 1, 16))));
  EXPECT_FALSE(has_spelling("nothing", 8, row, words(neighbours(b, 1, 16))));
  // One group for all lanes, of bytes that have to be extended.
  EXPECT_FALSE(has_spelling("vpmaddwd", 8, neighbours(a, 1, 16), words(neighbours(b, 1, 2))));
}

INSTANTIATE_TEST_SUITE_P(FormsInC, DotVectorTest, testing::ValuesIn(FormsInC()),
                         [](const auto& info) {
                           const std::string name =
                               absl::StrCat(info.param.row->name, "_", info.param.form->lanes, "_",
                                            info.param.form->features);
                           return absl::StrReplaceAll(name, {{".", "_"}, {",", "_"}});
                         });

// All rows for machines with vectors have a spelling. The others have functions of single sums, or
// loops.
TEST(DotVectorsTest, OfAllRows) {
  for (const DotInstruction& row : DotInstructions()) {
    for (const DotForm& form : row.forms) {
      EXPECT_TRUE(!form.c.empty() || !row.c.guard.empty()) << row.name << " of " << form.lanes;
      EXPECT_EQ(form.c.empty(), form.guard.empty()) << row.name << " of " << form.lanes;
    }
  }
}

}  // namespace
}  // namespace kiln::codegen
