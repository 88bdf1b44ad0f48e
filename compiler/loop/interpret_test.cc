// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/interpret.h"

#include <cstring>
#include <numeric>

#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

Buffer Param(std::string name, DType dtype, Shape shape) {
  return MakeBuffer(std::move(name), dtype, std::move(shape), BufferScope::kParam);
}

LoopProgram ProgramOf(std::vector<Buffer> params, int num_inputs, Stmt body) {
  LoopProgram program;
  program.funcs.push_back(
      {.name = "f", .params = std::move(params), .num_inputs = num_inputs, .body = body});
  return program;
}

TEST(InterpretTest, FailsWithTheNumber) {
  const Buffer a = Param("a", kI32, {3}), b = Param("b", kI32, {3});
  const Var i = MakeVar("i");
  const Expr found = MakeLoad(a, {i});
  const LoopProgram program =
      ProgramOf({a, b}, 1,
                MakeFor(i, 0, 3, ForKind::kSerial,
                        MakeBlock({MakeIf(found < 0, MakeFail("found ", found, ", wanted more")),
                                   MakeStore(b, {i}, found)})));
  std::vector<int32_t> x = {5, -7, 6}, y(3, 0);
  const absl::Status status = Interpreter(program).Run("f", {x.data(), y.data()});
  EXPECT_EQ(status, absl::FailedPreconditionError("found -7, wanted more"));
  EXPECT_EQ(y, (std::vector<int32_t>{5, 0, 0}));
}

TEST(InterpretTest, MatrixProduct) {
  const Buffer a = Param("a", kF32, {3, 4}), b = Param("b", kF32, {4, 5}),
               c = Param("c", kF32, {3, 5});
  const Buffer acc = MakeBuffer("acc", kF32, {}, BufferScope::kLocal);
  const Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k");
  const Stmt body = MakeAllocate(
      acc,
      MakeBlock({MakeStore(acc, {}, Expr(0)),
                 MakeFor(k, 0, 4, ForKind::kSerial,
                         MakeStore(acc, {},
                                   MakeLoad(acc, {}) + MakeLoad(a, {i, k}) * MakeLoad(b, {k, j}))),
                 MakeStore(c, {i, j}, MakeLoad(acc, {}))}));
  const LoopProgram program = ProgramOf(
      {a, b, c}, 2, MakeFor(i, 0, 3, ForKind::kParallel, MakeFor(j, 0, 5, ForKind::kSerial, body)));
  std::vector<float> x(12), y(20), z(15, -1.0f), want(15, 0.0f);
  std::iota(x.begin(), x.end(), 1.0f);
  std::iota(y.begin(), y.end(), -7.0f);
  for (size_t r = 0; r < 3; ++r) {
    for (size_t s = 0; s < 5; ++s) {
      for (size_t t = 0; t < 4; ++t) want[r * 5 + s] += x[r * 4 + t] * y[t * 5 + s];
    }
  }
  ASSERT_TRUE(Interpreter(program).Run("f", {x.data(), y.data(), z.data()}).ok());
  EXPECT_EQ(z, want);
}

TEST(InterpretTest, VectorsAndFlatIndices) {
  const Buffer a = Param("a", kI32, {2, 8}), b = Param("b", kI32, {2, 8});
  const Var i = MakeVar("i");
  const Expr even = MakeLoad(a, {MakeRamp(i * 8, 2, 4)});
  const Expr odd = MakeLoad(a, {MakeRamp(i * 8 + 1, 2, 4)});
  const Stmt body =
      MakeBlock({MakeStore(b, {MakeRamp(i * 8, 1, 4)}, MakeSelect(even > odd, even, odd * 2)),
                 // A gather: the index is not a ramp.
                 MakeStore(b, {MakeRamp(i * 8 + 4, 1, 4)},
                           MakeLoad(a, {ToIndex(even % 8)}) + MakeCast(kI32, i))});
  const LoopProgram program = ProgramOf({a, b}, 1, MakeFor(i, 0, 2, ForKind::kSerial, body));
  std::vector<int32_t> x = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}, y(16);
  ASSERT_TRUE(Interpreter(program).Run("f", {x.data(), y.data()}).ok());
  EXPECT_EQ(y, (std::vector<int32_t>{3, 4, 18, 12, 1, 5, 9, 4, 5, 16, 9, 9, 10, 10, 2, 2}));
}

TEST(InterpretTest, SharedNodesAreEvaluatedOnce) {
  const Buffer a = Param("a", DType::Float(64), {1});
  Expr e = MakeLoad(a, {0});
  for (int i = 0; i < 2000; ++i) e = e * e;  // 2^2000 operations as a tree
  const LoopProgram program = ProgramOf({a}, 0, MakeStore(a, {0}, e));
  double x = 1.0;
  ASSERT_TRUE(Interpreter(program).Run("f", {&x}).ok());
  EXPECT_EQ(x, 1.0);
}

TEST(InterpretTest, LoadsAreNotMovedOverStores) {
  const Buffer a = Param("a", kI32, {1}), out = Param("out", kI32, {2});
  const Expr load = MakeLoad(a, {0}) + 1;  // one node in three statements
  const Var i = MakeVar("i");
  const Stmt body = MakeFor(
      i, 0, 4, ForKind::kSerial,
      MakeBlock({MakeStore(a, {0}, load), MakeStore(out, {0}, load), MakeStore(out, {1}, load)}));
  const LoopProgram program = ProgramOf({a, out}, 0, body);
  int32_t x = 10, y[2] = {0, 0};
  ASSERT_TRUE(Interpreter(program).Run("f", {&x, y}).ok());
  EXPECT_EQ(x, 14);
  EXPECT_EQ(y[0], 15);
  EXPECT_EQ(y[1], 15);
}

TEST(InterpretTest, OneVariableMayBindTwoLoops) {
  const Buffer out = Param("out", kI32, {10});
  const Var i = MakeVar("i");
  const Expr square = MakeCast(kI32, i * i);
  const Stmt body = MakeBlock(
      {MakeFor(i, 0, 5, ForKind::kSerial, MakeStore(out, {i}, square)),
       MakeFor(i, 5, 5, ForKind::kSerial,
               MakeIf(i % 2 == 0, MakeStore(out, {i}, square), MakeStore(out, {i}, -square)))});
  const LoopProgram program = ProgramOf({out}, 0, body);
  std::vector<int32_t> y(10);
  ASSERT_TRUE(Interpreter(program).Run("f", {y.data()}).ok());
  EXPECT_EQ(y, (std::vector<int32_t>{0, 1, 4, 9, 16, -25, 36, -49, 64, -81}));
}

TEST(InterpretTest, OutOfBoundsNamesBufferIndexAndSize) {
  const Buffer a = Param("a", kF32, {2, 4}), b = Param("b", kF32, {8});
  const Var i = MakeVar("i");
  const LoopProgram program = ProgramOf(
      {a, b}, 1, MakeFor(i, 0, 8, ForKind::kSerial, MakeStore(b, {i}, MakeLoad(a, {1, i}))));
  std::vector<float> x(8), y(8);
  absl::Status status = Interpreter(program).Run("f", {x.data(), y.data()});
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(status.message(), "f: a[1, 4] is out of bounds: it has [2, 4] elements");
  const LoopProgram store =
      ProgramOf({b}, 0, MakeFor(i, -1, 8, ForKind::kSerial, MakeStore(b, {i}, Expr(0))));
  status = Interpreter(store).Run("f", {y.data()});
  EXPECT_EQ(status.message(), "f: b[-1] is out of bounds: it has [8] elements");
}

TEST(InterpretTest, CallsLaunchesAndWorkspace) {
  const DType u8 = DType::UInt(8);
  LoopProgram program;
  // A task that multiplies its piece of x by `factor`.
  const Buffer x = Param("x", kI32, {6});
  const Var task = MakeVar("task"), tasks = MakeVar("tasks"), factor = MakeVar("factor");
  const Var i = MakeVar("i");
  program.funcs.push_back(
      {.name = "scale",
       .kind = Func::Kind::kTask,
       .params = {x},
       .scalars = {task, tasks, factor},
       .body = MakeFor(i, task * 6 / tasks, 6 / tasks, ForKind::kSerial,
                       MakeStore(x, {i}, MakeLoad(x, {i}) * MakeCast(kI32, factor)))});
  // Adds a constant to each element, through scratch memory in its workspace.
  const Buffer in = Param("in", kI32, {6}), out = Param("out", kI32, {6});
  const Buffer c = MakeBuffer("c", kI32, {6}, BufferScope::kConstant);
  const Buffer scratch = MakeBuffer("scratch", kI32, {6}, BufferScope::kWorkspace);
  const Buffer workspace = MakeBuffer("workspace", u8, {32}, BufferScope::kParam);
  const int32_t values[6] = {1, 2, 3, 4, 5, 6};
  program.constants.push_back({c, Tensor::From<int32_t>({6}, kI32, values)});
  program.funcs.push_back(
      {.name = "add",
       .convention = Convention::kPacked,
       .params = {in, out},
       .num_inputs = 1,
       .workspace = workspace,
       .body = MakeAllocate(
           scratch,
           MakeBlock(
               {MakeFor(i, 0, 6, ForKind::kSerial,
                        MakeStore(scratch, {i}, MakeLoad(in, {i}) + MakeLoad(c, {i}))),
                MakeLaunch("scale", 4, {{nullptr, Expr(10)}, {scratch, Expr(0)}}),
                MakeFor(i, 0, 6, ForKind::kSerial, MakeStore(out, {i}, MakeLoad(scratch, {i})))}),
           8)});
  const Buffer a = Param("a", kI32, {6}), b = Param("b", kI32, {6});
  const Buffer pool = MakeBuffer("pool", u8, {64}, BufferScope::kWorkspace);
  program.funcs.push_back({.name = "main",
                           .kind = Func::Kind::kMain,
                           .params = {a, b},
                           .num_inputs = 1,
                           .workspace = pool,
                           .body = MakeBlock({MakeCall("add", {{a, 0}, {pool, 0}, {pool, 32}}),
                                              MakeCall("add", {{pool, 0}, {b, 0}, {pool, 32}})})});
  Interpreter interpreter(program);
  std::vector<int32_t> p = {0, 0, 0, 1, 1, 1}, q(6), memory(16);
  ASSERT_TRUE(interpreter.Run("main", {p.data(), q.data()}).ok());
  EXPECT_EQ(q, (std::vector<int32_t>{110, 220, 330, 540, 650, 760}));
  ASSERT_TRUE(interpreter.Run("main", {p.data(), q.data(), memory.data()}).ok());
  EXPECT_EQ(memory[0], 10);
  EXPECT_EQ(memory[10], 110);  // the scratch buffer is 32 + 8 bytes into the pool
  EXPECT_EQ(interpreter.Run("scale", {p.data()}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(interpreter.Run("add", {p.data()}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(interpreter.Run("none", {}).code(), absl::StatusCode::kNotFound);
}

TEST(InterpretTest, CallsMustFitTheirBuffers) {
  LoopProgram program;
  const Buffer x = Param("x", kI32, {4}), y = Param("y", kI32, {6});
  program.funcs.push_back({.name = "zero", .params = {x}, .body = MakeStore(x, {0}, Expr(0))});
  program.funcs.push_back(
      {.name = "main", .params = {y}, .body = MakeCall("zero", {{y, Expr(3)}})});
  std::vector<int32_t> p(6);
  const absl::Status status = Interpreter(program).Run("main", {p.data()});
  EXPECT_EQ(status.message(), "main: call of zero: y + 3 has not the 16 bytes of x");
}

TEST(InterpretTest, WhatIsNotInScopeIsAnError) {
  const Buffer a = Param("a", kF32, {4}), other = Param("other", kF32, {4});
  const LoopProgram unbound = ProgramOf({a}, 0, MakeStore(a, {MakeVar("i")}, Expr(0)));
  const LoopProgram unknown = ProgramOf({a}, 0, MakeStore(a, {0}, MakeLoad(other, {0})));
  std::vector<float> x(4);
  EXPECT_EQ(Interpreter(unbound).Run("f", {x.data()}).message(), "f: variable i is not in scope");
  EXPECT_EQ(Interpreter(unknown).Run("f", {x.data()}).message(), "f: buffer other is not in scope");
}

TEST(InterpretTest, Float16IsStorage) {
  const DType f16 = DType::Float(16);
  const Buffer a = Param("a", f16, {3}), b = Param("b", f16, {3});
  const Var i = MakeVar("i");
  const Expr twice = MakeCast(kF32, MakeLoad(a, {i})) * 2;
  const LoopProgram program = ProgramOf(
      {a, b}, 1, MakeFor(i, 0, 3, ForKind::kSerial, MakeStore(b, {i}, MakeCast(f16, twice))));
  uint16_t x[3] = {HalfFromFloat(1.5f), HalfFromFloat(-0.25f), HalfFromFloat(60000.0f)}, y[3];
  ASSERT_TRUE(Interpreter(program).Run("f", {x, y}).ok());
  EXPECT_EQ(y[0], HalfFromFloat(3.0f));
  EXPECT_EQ(y[1], HalfFromFloat(-0.5f));
  EXPECT_EQ(y[2], 0x7c00);
}

TEST(InterpretTest, WorkIsBounded) {
  const Buffer a = Param("a", kI32, {4});
  const Var i = MakeVar("i"), k = MakeVar("k");
  const Stmt body =
      MakeFor(k, 0, 250, ForKind::kSerial,
              MakeFor(i, 0, 4, ForKind::kSerial, MakeStore(a, {i}, MakeCast(kI32, i * 2))));
  const LoopProgram program = ProgramOf({a}, 0, body);
  const auto run = [&](int64_t operations) {
    std::vector<int32_t> values(4);
    Interpreter interpreter(program);
    interpreter.SetMaxWork(operations);
    return interpreter.Run("f", {values.data()});
  };
  EXPECT_TRUE(run(100'000).ok());
  const absl::Status status = run(1'000);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

}  // namespace
}  // namespace kiln::loop
