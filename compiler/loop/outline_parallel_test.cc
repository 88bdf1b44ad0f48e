// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

constexpr DType kFloat = DType::Float(32);

class OutlineParallelTest : public ::testing::Test {
 protected:
  // for o serial { for p parallel { for q parallel { y[…] = x[…] + table[q] + scratch[p] } } }
  OutlineParallelTest() {
    Func func;
    func.name = "f";
    func.params = {y, x};
    func.num_inputs = 1;
    func.in_place = true;
    const Expr value = MakeLoad(x, {o * 6 + p}) + MakeLoad(table, {q}) + MakeLoad(scratch, {p});
    Stmt body = MakeStore(y, {(o * 6 + p) * 2 + q}, value);
    body = MakeFor(p, 0, 6, ForKind::kParallel, MakeFor(q, 0, 2, ForKind::kParallel, body));
    func.body = MakeAllocate(scratch,
                             MakeFor(o, 0, 3, ForKind::kSerial,
                                     MakeBlock({MakeStore(scratch, {o}, Const(kFloat, 1)), body})));
    program.funcs.push_back(func);
  }

  const Var o = MakeVar("o"), p = MakeVar("p"), q = MakeVar("q");
  const Buffer x = MakeBuffer("x", kFloat, {18}, BufferScope::kParam);
  const Buffer y = MakeBuffer("y", kFloat, {36}, BufferScope::kParam);
  const Buffer table = MakeBuffer("table", kFloat, {2}, BufferScope::kConstant);
  const Buffer scratch = MakeBuffer("scratch", kFloat, {6}, BufferScope::kLocal);
  LoopProgram program;
};

TEST_F(OutlineParallelTest, TheOuterParallelLoopBecomesATask) {
  OutlineParallel(program, 4);
  ASSERT_EQ(program.funcs.size(), 2u);
  const Func& task = program.funcs[0];
  EXPECT_EQ(task.name, "f_task0");
  EXPECT_EQ(task.kind, Func::Kind::kTask);
  EXPECT_FALSE(task.exported);
  EXPECT_TRUE(task.in_place);
  // Buffers read, then those written; constants are global; the serial loop's variable comes along.
  ASSERT_EQ(task.params.size(), 3u);
  EXPECT_EQ(task.num_inputs, 2);
  EXPECT_EQ(task.params[0]->name, "x");
  EXPECT_EQ(task.params[1]->name, "scratch");
  EXPECT_EQ(task.params[2]->name, "y");
  for (const Buffer& param : task.params) EXPECT_EQ(param->scope, BufferScope::kParam);
  ASSERT_EQ(task.scalars.size(), 3u);
  EXPECT_EQ(ToString(task.scalars[2]), "o");
  EXPECT_EQ(ToString(Simplify(program.funcs[1].body)),
            "allocate scratch: float32[6] {\n"
            "  for o in 0..3 {\n"
            "    scratch[o] = 1f32\n"
            "    launch 4 f_task0(x, scratch, y, o)\n"
            "  }\n"
            "}\n");
}

TEST_F(OutlineParallelTest, NoMoreTasksThanIterations) {
  OutlineParallel(program, 64);
  EXPECT_NE(ToString(program.funcs[1].body).find("launch 6 f_task0("), std::string::npos)
      << ToString(program.funcs[1].body);
}

TEST_F(OutlineParallelTest, TheRangeOfATaskIsKnown) {
  OutlineParallel(program, 4);
  // p is in [0, 6) whatever the task's number is, so p / 6 is 0.
  const Buffer out = MakeBuffer("out", kFloat, {6}, BufferScope::kParam);
  Func func;
  func.name = "g";
  func.params = {out};
  func.body = MakeFor(p, 0, 6, ForKind::kParallel, MakeStore(out, {p + p / 6}, Const(kFloat, 0)));
  LoopProgram other;
  other.funcs.push_back(func);
  OutlineParallel(other, 2);
  EXPECT_NE(ToString(Simplify(other.funcs[0].body)).find("out[p] = 0f32"), std::string::npos);
}

TEST_F(OutlineParallelTest, OneThreadNeedsNoTask) {
  OutlineParallel(program, 1);
  ASSERT_EQ(program.funcs.size(), 1u);
  EXPECT_EQ(ToString(program.funcs[0].body).find("parallel"), std::string::npos);
}

}  // namespace
}  // namespace kiln::loop
