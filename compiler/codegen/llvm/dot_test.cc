// SPDX-License-Identifier: Apache-2.0
// Dot products: every row of the table of instructions, at every width. By the instruction and by
// plain arithmetic it computes the interpreter's bits. The assembly has the instruction.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/codegen/llvm/test_programs.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/target/instructions.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Var;

constexpr int kSteps = 40;

// The groups that a lane of the sum is computed of.
enum class Factors { kOneRow, kOneColumn, kPaired, kTwoByTwo };

// sum[lane] += dot, over kSteps groups.
loop::LoopProgram Program(const loop::DotKind& kind, DType of_a, DType of_b, int lanes,
                          Factors factors, DType of_sum = DType::Int(32)) {
  const int group = kind.group;
  const bool two_by_two = factors == Factors::kTwoByTwo;
  const int a_lanes = group * (two_by_two ? 2 : factors == Factors::kOneRow ? 1 : lanes);
  const int b_lanes = group * (two_by_two ? 2 : factors == Factors::kOneColumn ? 1 : lanes);
  const Buffer a = Param("a", of_a, {kSteps * a_lanes}), b = Param("b", of_b, {kSteps * b_lanes}),
               sum = Param("sum", of_sum, {lanes});
  const Var i = loop::MakeVar("i");
  const auto group_at = [&](const Buffer& buffer, int width) {
    return loop::MakeLoad(buffer, {loop::MakeRamp(i * Expr(width), 1, width)});
  };
  const Expr at = loop::MakeRamp(Expr(0), 1, lanes);
  const Expr dot =
      loop::MakeDot(kind, loop::MakeLoad(sum, {at}), group_at(a, a_lanes), group_at(b, b_lanes));
  return OneFunc(
      {a, b, sum}, 2,
      loop::MakeFor(i, 0, kSteps, loop::ForKind::kSerial, loop::MakeStore(sum, {at}, dot)));
}

loop::DotKind KindOf(const DotInstruction& row) {
  return {.instruction = std::string(row.name), .group = row.group, .swaps = row.swaps};
}

void ExpectBitsOnMachinesAtHand(const loop::LoopProgram& program, const std::string& trace) {
  SCOPED_TRACE(trace);
  std::vector<std::string> args;
  uint32_t seed = 3;
  for (const Buffer& param : program.funcs[0].params) {
    args.push_back(EdgeValues(param->dtype, static_cast<int>(param->num_elements()), seed++));
  }
  std::vector<Target> targets = RunnableTargets();
  for (const Target& target : targets) ExpectSameBits(program, "f", args, target);
}

// A machine that supports the form.
Target MachineOf(const DotInstruction& row, const DotForm& form) {
  const std::string triple = row.IsOfArch("x86_64")    ? "x86_64-pc-linux-gnu"
                             : row.IsOfArch("aarch64") ? "aarch64-unknown-linux-gnu"
                             : row.IsOfArch("riscv64") ? "riscv64-unknown-linux-gnu"
                                                       : "thumbv8.1m.main-none-eabihf";
  Target target = *Target::Parse(triple);
  target.features = form.features.empty()
                        ? ""
                        : absl::StrCat("+", absl::StrReplaceAll(form.features, {{",", ",+"}}));
  return target;
}

// matrices_test.cc covers rows for matrix registers.
TEST(DotTest, RowsHaveTheBitsOfTheInterpreter) {
  for (const DotInstruction& row : DotInstructions()) {
    if (row.geometry == DotGeometry::kMatrix) continue;
    for (const DotForm& form : row.forms) {
      for (const Factors factors :
           {Factors::kOneRow, Factors::kOneColumn, Factors::kPaired, Factors::kTwoByTwo}) {
        if (factors == Factors::kTwoByTwo && form.lanes != 4) continue;
        ExpectBitsOnMachinesAtHand(
            Program(KindOf(row), row.a, row.b, form.lanes, factors, row.sum),
            absl::StrCat(row.name, " of ", form.lanes, ", ", static_cast<int>(factors)));
      }
    }
  }
}

TEST(DotTest, RowsAreThere) {
  for (const DotInstruction& row : DotInstructions()) {
    if (row.has_loops_only() || row.geometry == DotGeometry::kMatrix) continue;
    for (const DotForm& form : row.forms) {
      SCOPED_TRACE(absl::StrCat(row.name, " of ", form.lanes, " with ", form.features));
      const std::string name(row.name.substr(0, row.name.find('_')));
      const Factors factors =
          row.geometry == DotGeometry::kOuter ? Factors::kTwoByTwo : Factors::kOneRow;
      const auto assembly = EmitAssembly(
          Program(KindOf(row), row.a, row.b, form.lanes, factors, row.sum), MachineOf(row, form));
      ASSERT_TRUE(assembly.ok()) << assembly.status();
      // SSE's mnemonics lack the v.
      const bool is_sse = row.IsOfArch("x86_64") && form.features.empty();
      EXPECT_TRUE(absl::StrContains(*assembly, is_sse ? name.substr(1) : name)) << *assembly;
    }
  }
}

// x86: each factor of a pair is converted to words at once, and halves of vectors are not moved.
TEST(DotTest, PairsOfBytesAreExtendedToWords) {
  const Buffer x = Param("x", DType::Int(8), {80}), w = Param("w", DType::Int(16), {32}),
               sum = Param("sum", DType::Int(32), {16});
  const Expr at = loop::MakeRamp(0, 1, 16);
  const auto wide = [&](int64_t first) {
    return loop::MakeCast(DType::Int(16), loop::MakeLoad(x, {loop::MakeRamp(first, 1, 16)}));
  };
  const Expr dot = loop::MakeDot({.instruction = "vpmaddwd", .group = 2}, loop::MakeLoad(sum, {at}),
                                 loop::MakeInterleave({wide(0), wide(64)}),
                                 loop::MakeLoad(w, {loop::MakeRamp(0, 1, 32)}));
  const auto assembly = EmitAssembly(OneFunc({x, w, sum}, 2, loop::MakeStore(sum, {at}, dot)),
                                     *Target::Parse("x86-64-v4"));
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  EXPECT_TRUE(absl::StrContains(*assembly, "vpmovsxbd\t(%rdi)")) << *assembly;
  EXPECT_TRUE(absl::StrContains(*assembly, "vpmovsxbd\t64(%rdi)")) << *assembly;
  EXPECT_FALSE(absl::StrContains(*assembly, "vinserti64x4")) << *assembly;
}

// AArch64: four groups of a row are loaded as one vector, whose lanes are operands.
TEST(DotTest, GroupsOfARowAreLanes) {
  const Buffer a = Param("a", DType::Int(8), {16}), b = Param("b", DType::Int(8), {64}),
               sum = Param("sum", DType::Int(32), {4});
  const Expr at = loop::MakeRamp(0, 1, 4);
  std::vector<loop::Stmt> steps;
  for (int64_t k = 0; k < 4; ++k) {
    const Expr row = loop::MakeLoad(a, {loop::MakeRamp(k * 4, 1, 4)}),
               columns = loop::MakeLoad(b, {loop::MakeRamp(k * 16, 1, 16)});
    steps.push_back(loop::MakeStore(sum, {at},
                                    loop::MakeDot({.instruction = "sdot", .group = 4},
                                                  loop::MakeLoad(sum, {at}), row, columns)));
  }
  const auto assembly = EmitAssembly(OneFunc({a, b, sum}, 2, loop::MakeBlock(std::move(steps))),
                                     *Target::Parse("aarch64 -mattr=+dotprod"));
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  for (const char* lane : {".4b[0]", ".4b[1]", ".4b[2]", ".4b[3]"}) {
    EXPECT_TRUE(absl::StrContains(*assembly, lane)) << lane << *assembly;
  }
  EXPECT_FALSE(absl::StrContains(*assembly, "ld1r")) << *assembly;
}

// Interleaved operands, scalars and vectors, as factors and as stored values.
TEST(DotTest, InterleavedOperands) {
  for (const int count : {2, 3, 4, 6, 8}) {
    for (const int lanes : {1, 3, 4, 16}) {
      std::vector<Buffer> params;
      std::vector<Expr> operands;
      for (int i = 0; i < count; ++i) {
        params.push_back(Param(absl::StrCat("x", i), DType::Int(8), {lanes}));
        const Expr at = lanes == 1 ? Expr(0) : loop::MakeRamp(0, 1, lanes);
        operands.push_back(loop::MakeCast(DType::Int(16), loop::MakeLoad(params.back(), {at})));
      }
      const Buffer out = Param("out", DType::Int(16), {count * lanes});
      params.push_back(out);
      ExpectBitsOnMachinesAtHand(OneFunc(params, count,
                                         loop::MakeStore(out, {loop::MakeRamp(0, 1, count * lanes)},
                                                         loop::MakeInterleave(operands))),
                                 absl::StrCat(count, " of ", lanes));
    }
  }
}

// A tile that the instruction has a loop for, with `steps` steps, or with `steps` dots if rows
// overlap.
loop::LoopProgram TileProgram(const DotInstruction& row, const DotLoop& tile, int steps) {
  loop::DotKind kind = KindOf(row);
  kind.run = tile.run;
  const Buffer sums = Param("sums", DType::Int(32), {tile.rows * tile.columns});
  if (tile.slide > 0) {
    constexpr int64_t kRow = 26;
    const loop::DotTile::Chain chain = {.length = steps, .a_step = kRow, .b_step = row.group};
    const Buffer a = Param("a", row.a, {(steps + 1) * kRow}),
                 b = Param("b", row.b, {steps * chain.b_step});
    return OneFunc(
        {a, b, sums}, 2,
        loop::MakeSlidingTile(kind, tile.rows, tile.slide, chain, {sums, 0}, {a, 0}, {b, 0}));
  }
  kind.steps = steps;
  const int terms = steps * row.group;
  const Buffer a = Param("a", row.a, {tile.rows * terms}),
               b = Param("b", row.b, {tile.columns * terms});
  return OneFunc({a, b, sums}, 2,
                 loop::MakeDotTile(kind, tile.rows, tile.columns, {sums, 0}, {a, 0}, {b, 0}));
}

size_t Occurrences(const std::string& text, absl::string_view what) {
  const std::vector<std::string> parts = absl::StrSplit(text, what);
  return parts.size() - 1;
}

// The text between LLVM's marks of inline assembly.
std::string InlineAssembly(const std::string& text) {
  const std::vector<std::string> behind = absl::StrSplit(text, "@APP");
  return behind.size() != 2 ? std::string() : behind[1].substr(0, behind[1].find("@NO_APP"));
}

TEST(DotTest, TilesAreOneLoopInAssembly) {
  size_t num_loops = 0;
  for (const DotInstruction& row : DotInstructions()) {
    for (const DotLoop& tile : row.loops) {
      ++num_loops;
      // Dots with overlapping rows are not a loop.
      const std::vector<int> all_steps =
          tile.slide > 0 ? std::vector<int>{1, 3, 5} : std::vector<int>{2, 3, 7, 8, 12};
      for (const int steps : all_steps) {
        const std::string trace = absl::StrCat(row.name, " ", tile.rows, " by ", tile.columns, ", ",
                                               steps, " steps, slide ", tile.slide);
        const loop::LoopProgram program = TileProgram(row, tile, steps);
        ExpectBitsOnMachinesAtHand(program, trace);
        SCOPED_TRACE(trace);
        const auto assembly = EmitAssembly(program, MachineOf(row, row.forms[0]));
        ASSERT_TRUE(assembly.ok()) << assembly.status();
        const int of_iteration = tile.slide > 0 ? steps : loop::DotTile::StepsOfIteration(steps);
        const int products = tile.rows * tile.columns * row.group * of_iteration;
        // SMLAD adds two products, SMLABT and SMLATB one each.
        EXPECT_EQ(2 * Occurrences(*assembly, "smlad\t") + Occurrences(*assembly, "smlabt\t") +
                      Occurrences(*assembly, "smlatb\t"),
                  products)
            << *assembly;
        EXPECT_EQ(Occurrences(InlineAssembly(*assembly), "ldrd\t"),
                  Occurrences(std::string(tile.step), "ldrd ") * of_iteration)
            << *assembly;
        EXPECT_EQ(Occurrences(*assembly, "bne"), of_iteration < steps ? 1 : 0) << *assembly;
      }
    }
  }
  EXPECT_EQ(num_loops, 14);
}

// Tiles with different numbers of iterations call the same loop.
TEST(DotTest, TilesOfAnyLengthShareALoopWhereCodeIsSmall) {
  const DotInstruction& row = *FindDotInstruction("smlad");
  const DotLoop& tile = row.loops.front();
  loop::DotKind kind = KindOf(row);
  kind.run = tile.run;
  constexpr int kMostSteps = 24;
  const Buffer sums = Param("sums", DType::Int(32), {tile.rows * tile.columns}),
               a = Param("a", row.a, {tile.rows * kMostSteps * row.group}),
               b = Param("b", row.b, {tile.columns * kMostSteps * row.group});
  std::vector<loop::Stmt> tiles;
  for (const int steps : {4, 8, kMostSteps}) {
    kind.steps = steps;
    tiles.push_back(loop::MakeDotTile(kind, tile.rows, tile.columns, {sums, 0}, {a, 0}, {b, 0}));
  }
  const loop::LoopProgram program = OneFunc({a, b, sums}, 2, loop::MakeBlock(tiles));
  for (const bool small_code : {false, true}) {
    LlvmOptions options;
    options.small_code = small_code;
    const auto assembly = EmitAssembly(program, MachineOf(row, row.forms[0]), options);
    ASSERT_TRUE(assembly.ok()) << assembly.status();
    EXPECT_EQ(Occurrences(*assembly, "bne"), small_code ? 1 : 2) << *assembly;
    EXPECT_EQ(Occurrences(*assembly, "bl\tkiln_dots_smlad"), small_code ? 3 : 0) << *assembly;
  }
}

// Windows of tensors with different widths call the same function, which takes the length of a row.
TEST(DotTest, WindowsOfAnyWidthShareAFunctionWhereCodeIsSmall) {
  const DotInstruction& row = *FindDotInstruction("smlad_taps");
  const DotLoop& tile = row.loops.front();
  loop::DotKind kind = KindOf(row);
  kind.run = tile.run;
  const Buffer sums = Param("sums", DType::Int(32), {tile.rows}), a = Param("a", row.a, {128}),
               b = Param("b", row.b, {9});
  std::vector<loop::Stmt> tiles;
  for (const int width : {14, 26, 50}) {
    const loop::DotTile::Chain chain = {.length = 3, .a_step = width, .b_step = 3};
    tiles.push_back(
        loop::MakeSlidingTile(kind, tile.rows, tile.slide, chain, {sums, 0}, {a, 0}, {b, 0}));
  }
  const loop::LoopProgram program = OneFunc({a, b, sums}, 2, loop::MakeBlock(tiles));
  LlvmOptions options;
  options.small_code = true;
  const auto assembly = EmitAssembly(program, MachineOf(row, row.forms[0]), options);
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  EXPECT_EQ(Occurrences(*assembly, "bl\tkiln_dots_smlad_taps"), 3) << *assembly;
  EXPECT_EQ(Occurrences(*assembly, "kiln_dots_smlad_taps_6x1_1_1_3_3:"), 1) << *assembly;
  EXPECT_EQ(Occurrences(InlineAssembly(*assembly), "lsl #1"), 2) << *assembly;
}

// A product that is used twice is computed once, and SMMLAR adds the zero point.
TEST(DotTest, RequantizationMultipliesTwice) {
  const Buffer x = Param("x", DType::Int(32), {3}), out = Param("out", DType::Int(32), {1});
  const Expr product = loop::RoundingMulTop(loop::MakeLoad(x, {0}), loop::MakeLoad(x, {1}));
  const Expr thirty_one = loop::Const(DType::Int(32), 31);
  const Expr away = product + loop::MakeBinary(loop::BinaryOp::kShr, product, thirty_one);
  const Expr value =
      loop::RoundingMulTop(away, loop::MakeLoad(x, {2})) + loop::Const(DType::Int(32), -128);
  const auto assembly = EmitAssembly(OneFunc({x, out}, 1, loop::MakeStore(out, {0}, value)),
                                     *Target::Parse("cortex-m4f"));
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  EXPECT_EQ(Occurrences(*assembly, "smmulr\t"), 1) << *assembly;
  EXPECT_EQ(Occurrences(*assembly, "smmlar\t"), 1) << *assembly;
}

// Dots that match no row: any group size, factors of any integers, rows by columns.
TEST(DotTest, PlainArithmetic) {
  for (const int group : {1, 3, 4}) {
    for (const int lanes : {1, 4, 16}) {
      for (const Factors factors : {Factors::kOneRow, Factors::kPaired}) {
        ExpectBitsOnMachinesAtHand(
            Program({.group = group}, DType::Int(8), DType::UInt(16), lanes, factors),
            absl::StrCat(group, " by ", lanes, ", ", static_cast<int>(factors)));
      }
    }
  }
  // 2 rows by 3 columns of 5 products each.
  const Buffer a = Param("a", DType::Int(16), {10}), b = Param("b", DType::Int(8), {15}),
               sum = Param("sum", DType::Int(32), {6});
  const auto all = [](const Buffer& buffer) {
    return loop::MakeLoad(buffer, {loop::MakeRamp(0, 1, static_cast<int>(buffer->num_elements()))});
  };
  const Expr dot = loop::MakeDot({.group = 5}, all(sum), all(a), all(b));
  ExpectBitsOnMachinesAtHand(
      OneFunc({a, b, sum}, 2, loop::MakeStore(sum, {loop::MakeRamp(0, 1, 6)}, dot)), "2 by 3");
}

}  // namespace
}  // namespace kiln::codegen
