// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/loop/parse.h"
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

// Returns the body of a function of x after the pass.
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

}  // namespace
}  // namespace kiln::loop
