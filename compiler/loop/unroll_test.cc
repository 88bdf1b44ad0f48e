// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

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

TEST(UnrollTest, NestedLoopsAreWrittenOut) {
  const Buffer x = MakeBuffer("x", kFloat, {64}, BufferScope::kParam);
  const Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k");
  const Stmt s = MakeFor(
      i, 1, 2, ForKind::kUnrolled,
      MakeFor(k, 0, 4, ForKind::kSerial,
              MakeFor(j, i, 2, ForKind::kUnrolled, MakeStore(x, {k * 8 + j}, Const(kFloat, 0)))));
  EXPECT_EQ(ToString(UnrollLoops(s)),
            "for k in 0..4 {\n  x[k * 8 + 1] = 0f32\n  x[k * 8 + 2] = 0f32\n}\n"
            "for k in 0..4 {\n  x[k * 8 + 2] = 0f32\n  x[k * 8 + 3] = 0f32\n}\n");
}

TEST(UnrollTest, ALoopWhoseRangeDependsOnAnUnrolledVariable) {
  const Buffer x = MakeBuffer("x", kFloat, {64}, BufferScope::kParam);
  const Var i = MakeVar("i"), k = MakeVar("k");
  const Stmt s =
      MakeFor(i, 1, 2, ForKind::kUnrolled,
              MakeFor(k, 0, i * 2, ForKind::kSerial, MakeStore(x, {k + i}, Const(kFloat, 0))));
  const std::string text = ToString(UnrollLoops(s));
  EXPECT_NE(text.find("in 0..2 {"), std::string::npos) << text;
  EXPECT_NE(text.find("in 0..4 {"), std::string::npos) << text;
}

}  // namespace
}  // namespace kiln::loop
