// SPDX-License-Identifier: Apache-2.0
// Functions that differ in extents and strides and share one that takes these as scalars.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// out[p, c] = in[p, c] * 3 for all of [places, channels]. Each row is copied to a local buffer.
void AddMatrix(LoopProgram& program, const std::string& name, int64_t places, int64_t channels,
               ForKind kind = ForKind::kSerial) {
  const DType dtype = DType::Int(32);
  const Shape shape = {places * channels};
  const Buffer in = MakeBuffer("in", dtype, shape, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", dtype, shape, BufferScope::kParam);
  const Buffer row = MakeBuffer("row", dtype, {channels}, BufferScope::kLocal);
  const Var p = MakeVar(name + "_p"), c = MakeVar("c"), d = MakeVar("d");
  const auto at = [&](const Var& column) { return p * Expr(channels) + column; };
  Func func;
  func.name = name;
  func.params = {in, out};
  func.num_inputs = 1;
  const Expr three = IntConst(Type::Of(dtype), 3);
  func.body = MakeFor(
      p, 0, places, ForKind::kSerial,
      MakeAllocate(
          row, MakeBlock({MakeFor(c, 0, channels, kind, MakeStore(row, {c}, MakeLoad(in, {at(c)}))),
                          MakeFor(d, 0, channels, kind,
                                  MakeStore(out, {at(d)}, MakeLoad(row, {d}) * three))})));
  program.funcs.push_back(func);
}

TEST(ShareExtents, TakesExtentsAsScalars) {
  LoopProgram program;
  AddMatrix(program, "f", 2, 3);
  AddMatrix(program, "g", 4, 2);
  AddMatrix(program, "h", 5, 2);
  LoopProgram plain = program;
  ShareFunctions(plain, /*numbers=*/true, /*parts=*/true);
  EXPECT_EQ(plain.funcs.size(), 3u);
  ShareFunctions(program, /*numbers=*/true, /*parts=*/true, /*extents=*/true);
  ASSERT_EQ(program.funcs.size(), 4u);
  // The parameters have the smallest size of all callers. The local buffer is large enough for each
  // of them.
  EXPECT_EQ(ToString(program.funcs[0]),
            "internal operator f_shared(number0: index, number1: index, in: int32[6]) -> "
            "(out: int32[6]) {\n"
            "  for f_p in 0..number1 {\n"
            "    allocate row: int32[3] {\n"
            "      for c in 0..number0 {\n"
            "        row[c] = in[f_p * number0 + c]\n"
            "      }\n"
            "      for d in 0..number0 {\n"
            "        out[f_p * number0 + d] = row[d] * 3i32\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
  EXPECT_EQ(ToString(program.funcs[1].body), "call f_shared(in, out, 3, 2)\n");
  EXPECT_EQ(ToString(program.funcs[3].body), "call f_shared(in, out, 2, 5)\n");
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
  Interpreter interpreter(program);
  std::array<int32_t, 10> in = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, out = {};
  const std::array<void*, 2> args = {in.data(), out.data()};
  ASSERT_TRUE(interpreter.Run("g", args).ok());
  EXPECT_EQ(out, (std::array<int32_t, 10>{3, 6, 9, 12, 15, 18, 21, 24, 0, 0}));
  ASSERT_TRUE(interpreter.Run("h", args).ok());
  EXPECT_EQ(out, (std::array<int32_t, 10>{3, 6, 9, 12, 15, 18, 21, 24, 27, 30}));
}

// A number that is computed from another one needs no scalar.
TEST(ShareExtents, ExtentsThatAreMultiplesAreOneScalar) {
  LoopProgram program;
  AddMatrix(program, "f", 3, 8);
  AddMatrix(program, "g", 5, 14);
  ShareFunctions(program, /*numbers=*/true, /*parts=*/true, /*extents=*/true);
  ASSERT_EQ(program.funcs.size(), 3u);
  EXPECT_EQ(ToString(program.funcs[1].body), "call f_shared(in, out, 3)\n");
  EXPECT_EQ(ToString(program.funcs[2].body), "call f_shared(in, out, 5)\n");
  const std::string shared = ToString(program.funcs[0]);
  EXPECT_NE(shared.find("for c in 0..number0 * 3 + -1 {"), std::string::npos) << shared;
}

// The number of lanes of a vector is fixed.
TEST(ShareExtents, ExtentsOfVectorizedLoopsStay) {
  LoopProgram program;
  AddMatrix(program, "f", 2, 3, ForKind::kVectorized);
  AddMatrix(program, "g", 4, 2, ForKind::kVectorized);
  ShareFunctions(program, /*numbers=*/true, /*parts=*/true, /*extents=*/true);
  EXPECT_EQ(program.funcs.size(), 2u);
}

// Functions with different extents are alike even if only one is in_place. The shared function is
// then in_place.
TEST(ShareExtents, ThoseOfOtherExtentsMayLieOverTheirInputs) {
  LoopProgram program;
  AddMatrix(program, "f", 2, 3);
  AddMatrix(program, "g", 4, 2);
  program.funcs[1].in_place = true;
  ShareFunctions(program, /*numbers=*/true, /*parts=*/true, /*extents=*/true);
  ASSERT_EQ(program.funcs.size(), 3u);
  EXPECT_TRUE(program.funcs[0].in_place);
}

TEST(ShareExtents, TilesOfDotsAreLoops) {
  LoopProgram program;
  for (const int steps : {8, 12}) {
    const int64_t elements = 2 * steps * 4;
    const Buffer a = MakeBuffer("a", DType::Int(16), {elements}, BufferScope::kParam);
    const Buffer b = MakeBuffer("b", DType::Int(8), {elements * 3}, BufferScope::kParam);
    const Buffer sums = MakeBuffer("sums", DType::Int(32), {12}, BufferScope::kParam);
    const Var i = MakeVar("i");
    Func func;
    func.name = absl::StrCat("of_", steps);
    func.params = {a, b, sums};
    func.num_inputs = 2;
    const DotKind kind = {
        .instruction = "smlad", .group = 4, .swaps = true, .steps = steps, .run = 2};
    func.body = MakeFor(i, 0, 3, ForKind::kSerial,
                        MakeDotTile(kind, 2, 2, {sums, i * 4}, {a, 0}, {b, i * Expr(elements)}));
    program.funcs.push_back(func);
  }
  ShareFunctions(program, /*numbers=*/true, /*parts=*/true, /*extents=*/true);
  ASSERT_EQ(program.funcs.size(), 3u);
  const std::string shared = ToString(program.funcs[0]);
  EXPECT_NE(shared.find("for part in 0..number0 {"), std::string::npos) << shared;
  EXPECT_NE(shared.find("steps 4, run 2"), std::string::npos) << shared;
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
}

// Windows of three rows that are `row` elements apart, for six neighboring outputs each.
void AddWindows(LoopProgram& program, int64_t row, int slide, int64_t of_taps = 4) {
  const Buffer a = MakeBuffer("a", DType::Int(16), {3 * row + 64}, BufferScope::kParam);
  const Buffer taps = MakeBuffer("taps", DType::Int(16), {3 * of_taps}, BufferScope::kParam);
  const Buffer sums = MakeBuffer("sums", DType::Int(32), {12}, BufferScope::kParam);
  const Var i = MakeVar("i");
  const DotKind kind = {.instruction = "smlad_taps", .group = 3, .run = 1};
  Func func;
  func.name = absl::StrCat("rows_of_", row, "_by_", slide, "_and_", of_taps);
  func.params = {a, taps, sums};
  func.num_inputs = 2;
  func.body = MakeFor(
      i, 0, 2, ForKind::kSerial,
      MakeSlidingTile(kind, 6, slide, {3, row, of_taps}, {sums, i * 6}, {a, i * 8}, {taps, 0}));
  program.funcs.push_back(func);
}

// The tile of a function's loop.
std::optional<DotTile> TileOf(const Func& func) {
  return AsDotTile(*func.body.As<For>()->body.As<Store>());
}

// The length of a row may be a scalar. The distance of windows is a constant of the instructions.
TEST(ShareExtents, WindowsOfOneStrideShare) {
  LoopProgram program;
  for (const auto& [row, slide] : {std::pair(20, 1), {24, 2}, {28, 1}, {32, 2}}) {
    AddWindows(program, row, slide);
  }
  ShareFunctions(program, /*numbers=*/true, /*parts=*/true, /*extents=*/true);
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
  std::vector<int> slides;
  for (const Func& func : program.funcs) {
    if (func.body.As<For>() == nullptr) continue;
    const std::optional<DotTile> tile = TileOf(func);
    ASSERT_TRUE(tile.has_value()) << ToString(func);
    EXPECT_EQ(ToString(tile->chain.a_step), "number0");
    slides.push_back(tile->slide);
  }
  EXPECT_EQ(program.funcs.size(), 6u);
  EXPECT_EQ(slides, (std::vector<int>{1, 2}));
}

// The distance between the taps of rows cannot be a scalar either.
TEST(ShareExtents, WindowsWhoseTapsLieOtherwiseDoNotShare) {
  LoopProgram program;
  AddWindows(program, 20, 1, 3);
  AddWindows(program, 20, 1, 4);
  ShareFunctions(program, /*numbers=*/true, /*parts=*/true, /*extents=*/true);
  ASSERT_EQ(program.funcs.size(), 2u);
  EXPECT_TRUE(TileOf(program.funcs[0]).has_value());
}

}  // namespace
}  // namespace kiln::loop
