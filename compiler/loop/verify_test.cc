// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/match.h"
#include "compiler/loop/passes.h"
#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

// A node that the builders would not make.
Expr RawExpr(ExprNode node) { return Expr(std::make_shared<const ExprNode>(std::move(node))); }

Buffer Param(std::string name, Shape shape) {
  return MakeBuffer(std::move(name), kF32, std::move(shape), BufferScope::kParam);
}

// A function with an input a[4, 8] and an output b[8].
struct Fixture {
  Buffer a = Param("a", {4, 8}), b = Param("b", {8});
  Var i = MakeVar("i"), j = MakeVar("j");

  Func WithBody(Stmt body) const {
    return {.name = "f", .params = {a, b}, .num_inputs = 1, .body = std::move(body)};
  }
  // Returns the error of a program of one function with `body`.
  std::string ErrorOf(Stmt body) const {
    LoopProgram program;
    program.funcs.push_back(WithBody(std::move(body)));
    const absl::Status status = VerifyProgram(program);
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInternal);
    return std::string(status.message());
  }
};

#define EXPECT_HAS(text, part) EXPECT_PRED2(Contains, text, part)
bool Contains(const std::string& text, const std::string& part) {
  return absl::StrContains(text, part);
}

TEST(VerifyTest, AcceptsAProgram) {
  Fixture f;
  EXPECT_EQ(f.ErrorOf(MakeFor(f.i, 0, 8, ForKind::kParallel,
                              MakeStore(f.b, {f.i}, MakeLoad(f.a, {3, f.i}) * 2))),
            "");
}

TEST(VerifyTest, FailuresStandInSerialCode) {
  Fixture f;
  const Stmt fail = MakeIf(f.i < 3, MakeFail("found ", f.i, ", wanted less"));
  EXPECT_EQ(f.ErrorOf(MakeFor(f.i, 0, 8, ForKind::kSerial, fail)), "");
  for (const ForKind kind : {ForKind::kParallel, ForKind::kVectorized}) {
    EXPECT_HAS(f.ErrorOf(MakeFor(f.i, 0, 8, kind, fail)),
               "a failure in a parallel or vectorized loop");
    EXPECT_HAS(f.ErrorOf(MakeFor(f.j, 0, 8, kind, MakeFor(f.i, 0, 8, ForKind::kSerial, fail))),
               "a failure in a parallel or vectorized loop");
  }
  EXPECT_HAS(f.ErrorOf(fail), "variable i is not in scope");
}

TEST(VerifyTest, Scope) {
  Fixture f;
  EXPECT_EQ(f.ErrorOf(MakeStore(f.b, {f.i}, Expr(0))),
            "function f: variable i is not in scope\nin\nb[i] = 0f32\n");
  EXPECT_HAS(f.ErrorOf(MakeStore(f.b, {0}, MakeLoad(Param("c", {1}), {0}))),
             "buffer c is not in scope");
  EXPECT_HAS(f.ErrorOf(MakeStore(f.a, {0, 0}, Expr(0))), "buffer a is written, but it is an input");
  const Stmt store = MakeStore(f.b, {f.i}, Expr(0));
  EXPECT_HAS(
      f.ErrorOf(MakeFor(f.i, 0, 2, ForKind::kSerial, MakeFor(f.i, 0, 2, ForKind::kSerial, store))),
      "i is the variable of two nested loops");
  // Two loops in sequence may use the same variable.
  const Stmt loop = MakeFor(f.i, 0, 2, ForKind::kSerial, store);
  EXPECT_EQ(f.ErrorOf(MakeBlock({loop, loop})), "");
}

TEST(VerifyTest, Bounds) {
  Fixture f;
  const auto error = [&](Expr row, Expr column) {
    return f.ErrorOf(MakeFor(
        f.i, 0, 4, ForKind::kSerial,
        MakeFor(f.j, 0, 8, ForKind::kSerial,
                MakeStore(f.b, {f.j}, MakeLoad(f.a, {std::move(row), std::move(column)})))));
  };
  EXPECT_EQ(error(3 - f.i, f.j), "");
  EXPECT_HAS(error(f.i, f.j + 1), "an index of a goes from 1 to 8, but must be in [0, 8)");
  EXPECT_HAS(error(f.i - f.j, f.j), "an index of a goes from -7 to 3, but must be in [0, 4)");
  EXPECT_EQ(error(f.i, Min(f.j + 1, 7)), "");
  // A guard may keep the index in bounds.
  EXPECT_EQ(f.ErrorOf(MakeFor(f.i, 0, 9, ForKind::kSerial,
                              MakeIf(f.i < 8, MakeStore(f.b, {f.i}, Expr(0))))),
            "");
  EXPECT_HAS(f.ErrorOf(MakeStore(f.b, {MakeRamp(4, 1, 8)}, Expr(0))),
             "an index of b goes from 4 to 11");
}

TEST(VerifyTest, Types) {
  Fixture f;
  const Type f32 = Type::Of(kF32);
  const Expr wrong = RawExpr({f32, Binary{BinaryOp::kAdd, Const(kF32, 1), Expr(1)}});
  EXPECT_HAS(f.ErrorOf(MakeStore(f.b, {0}, wrong)),
             "the right operand has type index, not float32");
  EXPECT_HAS(f.ErrorOf(MakeStore(f.b, {0}, RawExpr({f32, FloatImm{0.1}}))), "0.1 is no float32");
  const Expr mod = RawExpr({f32, Binary{BinaryOp::kMod, Const(kF32, 1), Const(kF32, 1)}});
  EXPECT_HAS(f.ErrorOf(MakeStore(f.b, {0}, mod)), "no such operation on float32");
  const Stmt store = MakeStore(f.b, {f.i}, Expr(0));
  EXPECT_HAS(f.ErrorOf(MakeFor(f.i, 0, MakeCast(Type::Index(), MakeCast(DType::Int(64), f.j)),
                               ForKind::kUnrolled, store)),
             "variable j is not in scope");
}

TEST(VerifyTest, Calls) {
  Fixture f;
  LoopProgram program;
  program.funcs.push_back(f.WithBody(MakeStore(f.b, {0}, Expr(0))));
  const Buffer x = Param("x", {4, 8}), y = Param("y", {16});
  const auto error = [&](Stmt call) {
    program.funcs.resize(1);
    program.funcs.push_back({.name = "main",
                             .kind = Func::Kind::kMain,
                             .params = {x, y},
                             .num_inputs = 1,
                             .body = call});
    return std::string(VerifyProgram(program).message());
  };
  EXPECT_EQ(error(MakeCall("f", {{x, 0}, {y, 8}})), "");
  EXPECT_HAS(error(MakeCall("f", {{x, 0}, {y, 9}})), "y + 9 has not the 32 bytes of f's b");
  EXPECT_HAS(error(MakeCall("f", {{x, 0}, {x, 0}})), "buffer x is written");
  EXPECT_HAS(error(MakeCall("f", {{x, 0}})), "1 buffers and 0 scalars for f, which takes 2 and 0");
  EXPECT_HAS(error(MakeCall("f", {{x, 0}, {y, 8}}, 0)), "a program without a profile hook");
  EXPECT_HAS(error(MakeCall("g", {})), "no function g before this one");
  EXPECT_HAS(error(MakeLaunch("f", 2, {{x, 0}, {y, 0}})), "f is no task");
  EXPECT_HAS(error(MakeCall("main", {{x, 0}, {y, 0}})), "no function main before this one");
}

TEST(VerifyTest, FunctionsAreForTargetsOfTheProgram) {
  Fixture f;
  LoopProgram program;
  program.funcs.push_back(f.WithBody(MakeStore(f.b, {0}, Expr(0))));
  program.funcs[0].target = 1;
  EXPECT_HAS(std::string(VerifyProgram(program).message()), "f is for target 1, and there are 1");
  program.targets = {"x86-64", "x86-64-v3"};
  EXPECT_EQ(VerifyProgram(program), absl::OkStatus());
}

TEST(VerifyTest, ConstantsAndWorkspace) {
  Fixture f;
  LoopProgram program;
  const Buffer c = MakeBuffer("c", kF32, {8}, BufferScope::kConstant);
  program.constants.push_back({c, Tensor::Filled({{8}, kF32}, 1)});
  Func func = f.WithBody(MakeStore(f.b, {0}, MakeLoad(c, {7})));
  program.funcs = {func};
  EXPECT_TRUE(VerifyProgram(program).ok());
  func.body = MakeStore(c, {0}, Expr(0));
  program.funcs = {func};
  EXPECT_HAS(std::string(VerifyProgram(program).message()), "buffer c is written");
  const Buffer scratch = MakeBuffer("scratch", kF32, {8}, BufferScope::kWorkspace);
  func.workspace = MakeBuffer("workspace", DType::UInt(8), {32}, BufferScope::kParam);
  func.body = MakeAllocate(scratch, MakeStore(scratch, {0}, Expr(0)));
  program.funcs = {func};
  EXPECT_TRUE(VerifyProgram(program).ok());
  func.body = MakeAllocate(scratch, MakeStore(scratch, {0}, Expr(0)), 4);
  program.funcs = {func};
  EXPECT_HAS(std::string(VerifyProgram(program).message()), "scratch lies beyond the workspace");
  program.constants.push_back(
      {MakeBuffer("d", kF32, {9}, BufferScope::kConstant), Tensor::Filled({{8}, kF32}, 1)});
  EXPECT_EQ(VerifyProgram(program).message(), "constant d has 32 bytes, not 36");
}

}  // namespace
}  // namespace kiln::loop
