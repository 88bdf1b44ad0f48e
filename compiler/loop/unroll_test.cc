// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/loop/parse.h"
#include "compiler/loop/partition.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

constexpr DType kFloat = DType::Float(32);

TEST(FlattenTest, IndicesAreRowMajor) {
  const Buffer x = MakeBuffer("x", kFloat, {4, 5, 6}, BufferScope::kParam);
  const Buffer scalar = MakeBuffer("scalar", kFloat, {}, BufferScope::kParam);
  const Var i = MakeVar("i"), j = MakeVar("j");
  const Stmt s = MakeStore(x, {i, j, 2}, MakeLoad(x, {i, 3, j}) + MakeLoad(scalar, {}));
  EXPECT_EQ(ToString(Simplify(FlattenBuffers(s))),
            "let t0 = i * 30\nx[t0 + j * 6 + 2] = x[t0 + j + 18] + scalar[0]\n");
  EXPECT_EQ(ToString(FlattenBuffers(FlattenBuffers(s))), ToString(FlattenBuffers(s)));
}

// The body of a function of x after the pass.
std::string Unrolled(absl::string_view body) {
  const absl::StatusOr<LoopProgram> program =
      ParseProgram(absl::StrCat("operator f() -> (x: float32[64]) {\n", body, "}\n"));
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? ToString(UnrollLoops(program->funcs[0].body)) : "";
}

TEST(UnrollTest, NestedLoopsAreWrittenOut) {
  EXPECT_EQ(Unrolled(R"(
for i in 1..3 unrolled {
  for k in 0..4 {
    for j in i..+2 unrolled {
      x[k * 8 + j] = 0f32
    }
  }
}
)"),
            R"(for k in 0..4 {
  x[k * 8 + 1] = 0f32
  x[k * 8 + 2] = 0f32
}
for k in 0..4 {
  x[k * 8 + 2] = 0f32
  x[k * 8 + 3] = 0f32
}
)");
}

TEST(UnrollTest, ALoopWhoseRangeDependsOnAnUnrolledVariable) {
  EXPECT_EQ(Unrolled(R"(
for i in 1..3 unrolled {
  for k in 0..i * 2 {
    x[k + i] = 0f32
  }
}
)"),
            R"(for k in 0..2 {
  x[k + 1] = 0f32
}
for k_1 in 0..4 {
  x[k_1 + 2] = 0f32
}
)");
}

// The body of a function of x, y and w after the passes for small machines.
std::string Small(absl::string_view body, const SmallLoops& limits) {
  const absl::StatusOr<LoopProgram> program = ParseProgram(
      absl::StrCat("constant w: float32[64]\noperator f(y: int8[64], z: float32[64]) -> "
                   "(x: int8[64], s: float32[64]) {\n",
                   body, "}\n"));
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return "";
  const Stmt& s = program->funcs[0].body;
  return ToString(UnrollShortLoops(limits.join ? JoinLoops(s) : s, limits));
}

TEST(SmallLoopsTest, LoopsThroughNeighborsAreOne) {
  const SmallLoops joins = {.join = true};
  EXPECT_EQ(Small(R"(
for i in 0..4 {
  for j in 0..2 {
    for k in 0..4 vectorized {
      x[i * 8 + j * 4 + k + 16] = max(y[i * 8 + j * 4 + k], 0i8)
    }
  }
}
)",
                  joins),
            R"(for k in 0..32 vectorized {
  x[k + 16] = max(y[k], 0i8)
}
)");
  // Rows apart; elements of another size, which may lie in one memory with those that are stored; a
  // value that differs by row.
  for (const char* apart : {R"(for i in 0..4 {
  for k in 0..4 {
    x[i * 8 + k] = y[i * 4 + k]
  }
}
)",
                            R"(for i in 0..4 {
  for k in 0..4 {
    x[i * 4 + k] = int8(z[i * 4 + k])
  }
}
)",
                            R"(for i in 0..4 {
  for k in 0..4 {
    x[i * 4 + k] = y[i]
  }
}
)"}) {
    EXPECT_EQ(Small(apart, joins), apart);
  }
}

TEST(SmallLoopsTest, ShortLoopsAreWrittenOutFromTheInnermostOn) {
  EXPECT_EQ(Small(R"(
for i in 0..2 {
  for k in 0..2 {
    s[i * 8 + k] = z[i * 16 + k] + 1f32
  }
}
)",
                  {.operations = 12}),
            R"(s[0] = z[0] + 1f32
s[1] = z[1] + 1f32
s[8] = z[16] + 1f32
s[9] = z[17] + 1f32
)");
}

TEST(SmallLoopsTest, IterationsOfLongLoopsBecomeOne) {
  // Three operations each: two together, and one that remains.
  EXPECT_EQ(Small(R"(
for k in 0..7 {
  x[k] = max(y[k], 0i8)
}
)",
                  {.operations = 12}),
            R"(for k in 0..3 {
  let t0 = k * 2
  x[t0] = max(y[t0], 0i8)
  let t1 = k * 2 + 1
  x[t1] = max(y[t1], 0i8)
}
x[6] = max(y[6], 0i8)
)");
}

TEST(SmallLoopsTest, RegistersAreNoOperations) {
  EXPECT_EQ(Small(R"(
allocate acc: float32[1] {
  for k in 0..6 {
    acc[0] = fma(z[k], w[k], acc[0])
  }
  s[0] = acc[0]
}
)",
                  {.operations = 9}),
            R"(allocate acc: float32[1] {
  for k in 0..2 {
    let t0 = k * 3
    acc[0] = fma(z[t0], w[t0], acc[0])
    let t1 = k * 3 + 1
    acc[0] = fma(z[t1], w[t1], acc[0])
    let t2 = k * 3 + 2
    acc[0] = fma(z[t2], w[t2], acc[0])
  }
  s[0] = acc[0]
}
)");
}

TEST(SmallLoopsTest, WhatTakesLongOrMovesMemoryStays) {
  const std::string copy = R"(for k in 0..16 {
  x[k + 4] = y[k + 8]
}
)",
                    fill = R"(for k in 0..16 {
  x[k] = 3i8
}
)",
                    sum = R"(for k in 0..4 {
  s[k] = z[k] + 1f32
}
)";
  for (const std::string& s : {copy, fill}) EXPECT_EQ(Small(s, {.operations = 32}), s);
  EXPECT_EQ(Small(sum, {.operations = 32, .floats = false}), sum);
  EXPECT_EQ(Small(sum, {.operations = 0}), sum);
  EXPECT_EQ(Small(sum, {.operations = 2}), sum);
}

}  // namespace
}  // namespace kiln::loop
