// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/small_loops.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/loop/parse.h"

namespace kiln::loop {
namespace {

// Returns the body of a function of y, z and w after the passes for small machines.
std::string Small(absl::string_view text, const SmallLoops& limits) {
  absl::StatusOr<LoopProgram> program = ParseProgram(
      absl::StrCat("constant w: float32[64]\noperator f(y: int8[64], z: float32[64]) -> "
                   "(x: int8[64], s: float32[64]) {\n",
                   text, "}\n"));
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return "";
  Stmt& body = program->funcs[0].body;
  if (limits.join) body = JoinLoops(body);
  UnrollShortLoops(*program, limits);
  return ToString(body);
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
  // Not joined: rows with gaps between them; elements of another size, which may share memory with
  // the stored ones; a value that differs by row.
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
  // Each iteration has three operations. Two become one, and one remains.
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

TEST(SmallLoopsTest, WhatSavesLittleOfTheProgramStays) {
  const std::string rare = "for k in 0..4 {\n  x[k] = max(y[k], 0i8)\n}\n";
  const std::string often =
      "for i in 0..8 {\n  for k in 0..4 {\n    s[i * 8 + k] = z[i] + w[k]\n  }\n}\n";
  const std::string both = Small(rare + often, {.operations = 16, .saved_by_operation = 1.0 / 50});
  EXPECT_TRUE(absl::StartsWith(both, rare)) << both;
  EXPECT_FALSE(absl::StrContains(both, "s[i * 8 + k]")) << both;
}

TEST(SmallLoopsTest, FunctionsThatRunOftenSaveMore) {
  const auto calls = [](int count) {
    absl::StatusOr<LoopProgram> program = ParseProgram(absl::StrCat(R"(
operator rare(x: float32[64]) -> (y: float32[64]) {
  for k in 0..4 {
    y[k] = x[k] + 1f32
  }
}
operator often(x: float32[64]) -> (y: float32[64]) {
  for k in 0..4 {
    y[k] = x[k] * 2f32
  }
}
main f(x: float32[64]) -> (y: float32[64]) {
  call rare(x, y)
  for i in 0..)",
                                                                    count, R"( {
    call often(x, y)
  }
}
)"));
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok()) return std::string();
    UnrollShortLoops(*program, {.operations = 16, .saved_by_operation = 1.0 / 60});
    return absl::StrCat(ToString(program->funcs[0].body), ToString(program->funcs[1].body));
  };
  EXPECT_FALSE(absl::StrContains(calls(1), "for k"));
  const std::string of_many = calls(100);
  EXPECT_TRUE(absl::StrContains(of_many, "y[k] = x[k] + 1f32")) << of_many;
  EXPECT_FALSE(absl::StrContains(of_many, "y[k] = x[k] * 2f32")) << of_many;
}

}  // namespace
}  // namespace kiln::loop
