// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "compiler/loop/parse.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

constexpr DType kFloat = DType::Float(32);

class VectorizeTest : public ::testing::Test {
 protected:
  Buffer Param(const std::string& name, DType dtype) {
    return MakeBuffer(name, dtype, {4096}, BufferScope::kParam);
  }
  // Returns the text of `body` in a vectorized loop over i after VectorizeLoops, with vectors of
  // 128 bits, and Simplify.
  std::string Vectorized(const Expr& extent, const Stmt& body, const Expr& begin = 0) {
    return ToString(
        Simplify(VectorizeLoops(MakeFor(i, begin, extent, ForKind::kVectorized, body), 128)));
  }

  const Var i = MakeVar("i");
  const Buffer x = Param("x", kFloat);
  const Buffer y = Param("y", kFloat);
  const Buffer z = Param("z", kFloat);
};

TEST_F(VectorizeTest, PiecesArePowersOfTwo) {
  const Stmt copy = MakeStore(y, {i}, MakeLoad(x, {i}));
  EXPECT_EQ(Vectorized(4, copy), "y[ramp(0, 1, 4)] = x[ramp(0, 1, 4)]\n");
  EXPECT_EQ(Vectorized(7, copy),
            "y[ramp(0, 1, 4)] = x[ramp(0, 1, 4)]\n"
            "y[ramp(4, 1, 2)] = x[ramp(4, 1, 2)]\n"
            "y[6] = x[6]\n");
  EXPECT_EQ(Vectorized(3, copy, 5), "y[ramp(5, 1, 2)] = x[ramp(5, 1, 2)]\ny[7] = x[7]\n");
}

TEST_F(VectorizeTest, ManyPiecesAreALoop) {
  EXPECT_EQ(Vectorized(41, MakeStore(y, {i}, MakeLoad(x, {i}))),
            "for i in 0..10 {\n"
            "  let t0 = ramp(i * 4, 1, 4)\n"
            "  y[t0] = x[t0]\n"
            "}\n"
            "y[40] = x[40]\n");
}

TEST_F(VectorizeTest, ExtentThatIsNotConstant) {
  const Var n = MakeVar("n");
  EXPECT_EQ(Vectorized(n, MakeStore(y, {i}, MakeLoad(x, {i}))),
            "for i in 0..n / 4 {\n"
            "  let t0 = ramp(i * 4, 1, 4)\n"
            "  y[t0] = x[t0]\n"
            "}\n"
            "for i_1 in n / 4 * 4..+n % 4 {\n"
            "  y[i_1] = x[i_1]\n"
            "}\n");
}

TEST_F(VectorizeTest, WhatIsTheSameInAllLanesStaysScalar) {
  const Var k = MakeVar("k");
  const Expr scalar = MakeLoad(x, {k}) * MakeLoad(x, {k + 1});
  EXPECT_EQ(Vectorized(4, MakeStore(y, {i}, scalar * MakeLoad(z, {i * 3 + k}))),
            "y[ramp(0, 1, 4)] = broadcast(x[k] * x[k + 1], 4) * z[ramp(k, 3, 4)]\n");
}

TEST_F(VectorizeTest, LanesOfDotsMayBeRowsByColumns) {
  const Buffer rows = Param("rows", DType::Int(8)), columns = Param("columns", DType::Int(8)),
               sums = Param("sums", DType::Int(32));
  const Var k = MakeVar("k");
  const auto group = [&](const Buffer& buffer, const Expr& which) {
    return MakeLoad(buffer, {MakeRamp(k * 16 + which * 8, 1, 8)});
  };
  const auto dot = [&](const Expr& row, const Expr& column) {
    return Vectorized(4,
                      MakeStore(sums, {i},
                                MakeDot({.instruction = "smmla", .group = 8}, MakeLoad(sums, {i}),
                                        group(rows, row), group(columns, column))));
  };
  EXPECT_EQ(dot(i / 2, i % 2),
            "let t0 = ramp(k * 16, 1, 16)\n"
            "sums[ramp(0, 1, 4)] = dot<smmla, 8>(sums[ramp(0, 1, 4)], rows[t0], columns[t0])\n");
  // Other orders of the lanes and groups with gaps stay serial.
  EXPECT_TRUE(absl::StartsWith(dot(i % 2, i / 2), "for i in 0..4 {"));
  EXPECT_TRUE(absl::StartsWith(dot(i / 2, i % 2 * 3), "for i in 0..4 {"));
}

TEST_F(VectorizeTest, InterleavesFactorsOfDots) {
  const Buffer bytes = Param("bytes", DType::Int(8)), words = Param("words", DType::Int(16)),
               sums = Param("sums", DType::Int(32));
  const auto wide = [&](const Expr& at) { return MakeCast(DType::Int(16), MakeLoad(bytes, {at})); };
  const Expr pair = MakeLoad(words, {MakeRamp(i * 2, 1, 2)});
  EXPECT_EQ(Vectorized(4, MakeStore(sums, {i},
                                    MakeDot({.group = 2}, MakeLoad(sums, {i}),
                                            MakeInterleave({wide(i), wide(i + 64)}), pair))),
            "sums[ramp(0, 1, 4)] = dot<2>(sums[ramp(0, 1, 4)], "
            "interleave(int16x4(bytes[ramp(0, 1, 4)]), int16x4(bytes[ramp(64, 1, 4)])), "
            "words[ramp(0, 1, 8)])\n");
  // An operand that is the same in all lanes, and a group that is.
  EXPECT_EQ(Vectorized(4, MakeStore(sums, {i},
                                    MakeDot({.group = 2}, MakeLoad(sums, {i}),
                                            MakeInterleave({wide(i), wide(9)}), pair))),
            "sums[ramp(0, 1, 4)] = dot<2>(sums[ramp(0, 1, 4)], "
            "interleave(int16x4(bytes[ramp(0, 1, 4)]), broadcast(int16(bytes[9]), 4)), "
            "words[ramp(0, 1, 8)])\n");
  EXPECT_EQ(Vectorized(4, MakeStore(sums, {i},
                                    MakeDot({.group = 2}, MakeLoad(sums, {i}),
                                            MakeInterleave({wide(8), wide(9)}), pair))),
            "sums[ramp(0, 1, 4)] = dot<2>(sums[ramp(0, 1, 4)], "
            "interleave(int16(bytes[8]), int16(bytes[9])), words[ramp(0, 1, 8)])\n");
}

TEST_F(VectorizeTest, OnlyDotsThatAreKept) {
  const Buffer rows = Param("rows", DType::UInt(8)), columns = Param("columns", DType::Int(8)),
               sums = Param("sums", DType::Int(32)), other = Param("other", DType::Int(32));
  const Var k = MakeVar("k");
  const auto dots = [&](const Buffer& to, int64_t lanes, bool keeps) {
    const Expr dot = MakeDot({.instruction = "vpdpbusd", .group = 4}, MakeLoad(sums, {i}),
                             MakeLoad(rows, {MakeRamp(k * 4, 1, 4)}),
                             MakeLoad(columns, {MakeRamp(i * 4, 1, 4)}));
    const Stmt loop = MakeFor(i, 0, lanes, ForKind::kVectorized, MakeStore(to, {i}, dot));
    return ToString(VectorizeDots(loop, [&](const Dot& d) { return keeps && d.kind.group == 4; }));
  };
  EXPECT_EQ(dots(sums, 16, true),
            "sums[ramp(0, 1, 16)] = dot<vpdpbusd, 4>(sums[ramp(0, 1, 16)], "
            "rows[ramp(k * 4, 1, 4)], columns[ramp(0, 1, 64)])\n");
  // Dots that the code generator does not spell and dots whose sums are loaded elsewhere stay
  // loops.
  EXPECT_TRUE(absl::StartsWith(dots(sums, 16, false), "for i in 0..16 vectorized {"));
  EXPECT_TRUE(absl::StartsWith(dots(other, 16, true), "for i in 0..16 vectorized {"));
  const Stmt copy = MakeFor(i, 0, 16, ForKind::kVectorized, MakeStore(y, {i}, MakeLoad(x, {i})));
  EXPECT_EQ(VectorizeDots(copy, [](const Dot&) { return true; }).get(), copy.get());
}

// Iterations stay serial if the code generator has no spelling for their stores.
TEST_F(VectorizeTest, OnlyStoresThatAreKept) {
  const Stmt copy = MakeStore(y, {i}, MakeLoad(x, {i}));
  const auto vectorized = [&](int64_t extent, int lanes) {
    const Stmt loop = MakeFor(i, 0, extent, ForKind::kVectorized, copy);
    return ToString(VectorizeLoops(
        loop, 128, [&](const Store& store) { return store.value.type().lanes >= lanes; }));
  };
  EXPECT_EQ(vectorized(7, 4),
            "y[ramp(0, 1, 4)] = x[ramp(0, 1, 4)]\n"
            "for i in 4..7 {\n"
            "  y[i] = x[i]\n"
            "}\n");
  EXPECT_EQ(vectorized(7, 2),
            "y[ramp(0, 1, 4)] = x[ramp(0, 1, 4)]\n"
            "y[ramp(4, 1, 2)] = x[ramp(4, 1, 2)]\n"
            "y[6] = x[6]\n");
  EXPECT_EQ(vectorized(7, 8), "for i in 0..7 {\n  y[i] = x[i]\n}\n");
  EXPECT_EQ(vectorized(64, 8), "for i in 0..64 {\n  y[i] = x[i]\n}\n");
}

TEST_F(VectorizeTest, IndicesAreRampsWhereDivisionAllowsIt) {
  EXPECT_EQ(Vectorized(8, MakeStore(y, {i}, MakeLoad(x, {i / 4 * 16 + i % 4}))),
            "y[ramp(0, 1, 4)] = x[ramp(0, 1, 4)]\n"
            "y[ramp(4, 1, 4)] = x[ramp(16, 1, 4)]\n");
  EXPECT_EQ(Vectorized(4, MakeStore(y, {i}, MakeLoad(x, {i / 4}))),
            "y[ramp(0, 1, 4)] = broadcast(x[0], 4)\n");
}

TEST_F(VectorizeTest, LanesFollowTheWidestType) {
  const Buffer bytes = Param("bytes", DType::Int(8));
  const Stmt sum =
      MakeStore(bytes, {i},
                MakeCast(DType::Int(8), MakeCast(DType::Int(16), MakeLoad(bytes, {i})) +
                                            Const(DType::Int(16), 1)));
  EXPECT_EQ(Vectorized(8, sum),
            "bytes[ramp(0, 1, 8)] = int8x8(int16x8(bytes[ramp(0, 1, 8)]) + broadcast(1i16, 8))\n");
  EXPECT_EQ(Vectorized(16, MakeStore(bytes, {i}, MakeLoad(bytes, {i + 16}))),
            "bytes[ramp(0, 1, 16)] = bytes[ramp(16, 1, 16)]\n");
}

TEST_F(VectorizeTest, ConditionsBecomeMasks) {
  const Expr v = MakeLoad(x, {i});
  EXPECT_EQ(Vectorized(4, MakeStore(y, {i}, MakeSelect(v < Const(kFloat, 0), v, Const(kFloat, 1)))),
            "let t0 = x[ramp(0, 1, 4)]\n"
            "y[ramp(0, 1, 4)] = select(t0 < broadcast(0f32, 4), t0, broadcast(1f32, 4))\n");
}

TEST_F(VectorizeTest, WhatHasNoVectorFormIsSerial) {
  // A sum into one place.
  EXPECT_EQ(Vectorized(4, MakeStore(y, {0}, MakeLoad(y, {0}) + MakeLoad(x, {i}))),
            "for i in 0..4 {\n  y[0] = y[0] + x[i]\n}\n");
  // A condition that differs by lane.
  EXPECT_EQ(Vectorized(4, MakeIf(MakeLoad(x, {i}) < Const(kFloat, 0),
                                 MakeStore(y, {i}, Const(kFloat, 0)))),
            "for i in 0..4 {\n  if x[i] < 0f32 {\n    y[i] = 0f32\n  }\n}\n");
  // A call.
  EXPECT_EQ(Vectorized(4, MakeCall("g", {{y, i}})), "for i in 0..4 {\n  call g(y + i)\n}\n");
}

TEST_F(VectorizeTest, OnlyTheInnermostLoopOfANest) {
  const Var o = MakeVar("o");
  const Stmt inner =
      MakeFor(i, 0, 4, ForKind::kVectorized, MakeStore(y, {o * 4 + i}, Const(kFloat, 0)));
  EXPECT_EQ(ToString(VectorizeLoops(MakeFor(o, 0, 3, ForKind::kVectorized, inner), 128)),
            "for o in 0..3 {\n  y[ramp(o * 4, 1, 4)] = broadcast(0f32, 4)\n}\n");
}

// Copies three columns with three planes each to the buffer `rows`. `stride` elements are between
// the starts of columns.
std::string CopiedColumns(int64_t stride, BufferScope scope) {
  const Buffer x = MakeBuffer("x", DType::Int(8), {4096}, BufferScope::kParam);
  const Buffer rows = MakeBuffer("rows", DType::Int(8), {32}, scope);
  const Var column = MakeVar("column"), plane = MakeVar("plane"), at = MakeVar("at");
  const Stmt copy =
      MakeFor(column, 0, 3, ForKind::kSerial,
              MakeFor(plane, 0, 3, ForKind::kVectorized,
                      MakeStore(rows, {column * 3 + plane},
                                MakeLoad(x, {at * 6 + column * Expr(stride) + plane}))));
  return ToString(Simplify(VectorizeLoops(copy, 128)));
}

TEST(VectorizeRowsTest, ALoopThatGoesOnIsPartOfTheVector) {
  EXPECT_EQ(CopiedColumns(3, BufferScope::kLocal),
            "rows[ramp(0, 1, 8)] = x[ramp(at * 6, 1, 8)]\n"
            "rows[8] = x[at * 6 + 8]\n");
}

TEST(VectorizeRowsTest, OtherLoopsStay) {
  EXPECT_EQ(CopiedColumns(5, BufferScope::kLocal).find("for column in 0..3 {\n"), 0);
  // The stored and the loaded buffer may overlap.
  EXPECT_EQ(CopiedColumns(3, BufferScope::kParam).find("for column in 0..3 {\n"), 0);
}

TEST(VectorizeTextTest, BuffersOfTheLoopGetAnElementForEachLane) {
  const absl::StatusOr<LoopProgram> program = ParseProgram(R"(
operator f(x: float32[256]) -> (y: float32[4]) {
  for i in 0..4 vectorized {
    allocate acc: float32[1] {
      acc[0] = 0f32
      for r in 0..3 {
        acc[0] = acc[0] + x[r * 64 + i]
      }
      y[i] = acc[0]
    }
  }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(ToString(Simplify(VectorizeLoops(program->funcs[0].body, 128))),
            R"(allocate acc: float32[4] {
  acc[ramp(0, 1, 4)] = broadcast(0f32, 4)
  for r in 0..3 {
    acc[ramp(0, 1, 4)] = acc[ramp(0, 1, 4)] + x[ramp(r * 64, 1, 4)]
  }
  y[ramp(0, 1, 4)] = acc[ramp(0, 1, 4)]
}
)");
}

}  // namespace
}  // namespace kiln::loop
