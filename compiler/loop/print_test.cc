// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/loop.h"
#include "compiler/loop/stage.h"
#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

TEST(PrintTest, Operators) {
  const Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k");
  const Var x = MakeVar("x", Type::Of(kF32)), n = MakeVar("n", Type::Of(kI32));
  const auto binary = [](BinaryOp op, Expr a, Expr b) { return ToString(MakeBinary(op, a, b)); };
  EXPECT_EQ(ToString((i + j) * k), "(i + j) * k");
  EXPECT_EQ(ToString(i - (j - k)), "i - (j - k)");
  EXPECT_EQ(ToString(i - j - k), "i - j - k");
  EXPECT_EQ(ToString(i * j % k), "i * j % k");
  EXPECT_EQ(ToString(i * (j % k)), "i * (j % k)");
  EXPECT_EQ(ToString(i < j && (j < k || Not(k < i))), "i < j && (j < k || !(k < i))");
  EXPECT_EQ(ToString(-(x + 1)), "-(x + 1f32)");
  EXPECT_EQ(ToString(-x * 2), "-x * 2f32");
  EXPECT_EQ(binary(BinaryOp::kAnd, n, MakeBinary(BinaryOp::kShr, n + 1, 4)),
            "n & n + 1i32 >> 4i32");
  EXPECT_EQ(ToString(MakeUnary(UnaryOp::kNot, n)), "~n");
  EXPECT_EQ(ToString(MakeUnary(UnaryOp::kSaturateInt8, n)), "saturate_int8(n)");
  EXPECT_EQ(ToString(MakeFma(x, x, MakeUnary(UnaryOp::kSqrt, Max(x, 0)))),
            "fma(x, x, sqrt(max(x, 0f32)))");
  EXPECT_EQ(ToString(MakeBitcast(kI32, x)), "bitcast<int32>(x)");
  EXPECT_EQ(ToString(MakeSelect(x < 0, -x, x)), "select(x < 0f32, -x, x)");
}

TEST(PrintTest, Prefetch) {
  const Buffer b = MakeBuffer("b", kF32, {64}, BufferScope::kParam);
  EXPECT_EQ(ToString(MakePrefetch(b, MakeVar("i") + 16)), "prefetch b[i + 16]\n");
  EXPECT_EQ(ToString(MakePrefetch(b, MakeVar("i"), 2)), "prefetch b[i] to cache 2\n");
}

TEST(PrintTest, Fail) {
  const Buffer b = MakeBuffer("b", kI32, {64}, BufferScope::kParam);
  const Stmt fail = MakeFail("x \"1\": found ", MakeLoad(b, {MakeVar("i") * 2}), ", wanted\n0");
  EXPECT_EQ(ToString(fail), "fail \"x \\\"1\\\": found \", b[i * 2], \", wanted\\n0\"\n");
}

TEST(PrintTest, Constants) {
  EXPECT_EQ(ToString(Expr(-3)), "-3");
  EXPECT_EQ(ToString(Const(DType::UInt(8), 200)), "200u8");
  EXPECT_EQ(ToString(Const(kF32, 0.1)), "0.1f32");
  EXPECT_EQ(ToString(Const(DType::Float(64), 0.1)), "0.1f64");
  EXPECT_EQ(ToString(Const(kF32, -1e30)), "-1e+30f32");
  EXPECT_EQ(ToString(Const(DType::Bool(), 1)), "true");
  EXPECT_EQ(ToString(Expr()), "none");
}

TEST(PrintTest, SharedNodesAreNamedOnce) {
  const Var x = MakeVar("x", Type::Of(kF32)), t = MakeVar("t0", Type::Of(kF32));
  Expr e = x + t;
  for (int i = 0; i < 3; ++i) e = e * e;
  EXPECT_EQ(ToString(e),
            "let t0_1 = x + t0 in let t1 = t0_1 * t0_1 in let t2 = t1 * t1 in t2 * t2");
  for (int i = 0; i < 100; ++i) e = e * e;
  EXPECT_LT(ToString(e).size(), 4000u);
}

TEST(PrintTest, DeepExpressionsAreCut) {
  Expr e = MakeVar("x", Type::Of(kF32));
  for (int i = 0; i < 100'000; ++i) e = e + 1;
  const std::string text = ToString(e);
  EXPECT_EQ(text.find("let t0 = x + 1f32"), 0u);
  EXPECT_LT(text.size(), 2'000'000u);
}

TEST(PrintTest, NamesAreUnique) {
  const Var i = MakeVar("i"), other = MakeVar("i"), a = MakeVar("a");
  const Buffer buffer = MakeBuffer("a", kF32, {4, 4, 4}, BufferScope::kParam);
  EXPECT_EQ(ToString(MakeLoad(buffer, {i, other, a})), "a[i, i_1, a_1]");
}

TEST(PrintTest, Program) {
  LoopProgram program;
  const Buffer in = MakeBuffer("in", kF32, {4, 16}, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", kF32, {4, 16}, BufferScope::kParam);
  const Buffer w = MakeBuffer("w", kF32, {16}, BufferScope::kConstant);
  const Buffer acc = MakeBuffer("acc", kF32, {}, BufferScope::kLocal);
  const Buffer scratch = MakeBuffer("scratch", kF32, {16}, BufferScope::kWorkspace);
  const Buffer workspace = MakeBuffer("workspace", DType::UInt(8), {64}, BufferScope::kParam);
  program.constants.push_back({w, Tensor::Filled({{16}, kF32}, 0.5)});
  program.data.push_back(
      {.name = "table",
       .c_type = "struct Entry",
       .value = DataValue::Struct({DataValue::Int(32, 7), DataValue::String("x\n"),
                                   DataValue::Pointer("w"), DataValue::Null()})});
  const Var i = MakeVar("i"), j = MakeVar("j");
  const Expr scaled = MakeLoad(in, {i, j}) * MakeLoad(w, {j});
  program.funcs.push_back(
      {.name = "scale",
       .params = {in, out},
       .num_inputs = 1,
       .workspace = workspace,
       .body = MakeAllocate(
           scratch,
           MakeFor(
               i, 0, 4, ForKind::kParallel,
               MakeAllocate(acc, MakeBlock({MakeStore(acc, {}, Expr(0)),
                                            MakeFor(j, i, 16 - i, ForKind::kVectorized,
                                                    MakeStore(out, {i, j}, scaled * scaled)),
                                            MakeIf(i < 2, MakeStore(out, {i, 0}, MakeLoad(acc, {})),
                                                   MakeStore(out, {i, 1}, Expr(1)))}))),
           0)});
  program.funcs.push_back({.name = "main",
                           .kind = Func::Kind::kMain,
                           .convention = Convention::kPacked,
                           .params = {in, out},
                           .num_inputs = 1,
                           .workspace = workspace,
                           .allocate_workspace = true,
                           .body = MakeCall("scale", {{in, 0}, {out, 0}, {workspace, 0}}),
                           .exported = false});
  EXPECT_EQ(ToString(program), R"(constant w0 "w": float32[16] = #28c0fe8e
internal data table: "struct Entry" = {7i32, "x\n", &w, null}

operator scale(in: float32[4, 16]) -> (out: float32[4, 16]) workspace workspace: uint8[64] {
  allocate scratch: float32[16] workspace 0 {
    for i in 0..4 parallel {
      allocate acc: float32[] {
        acc[] = 0f32
        for j in i..+16 - i vectorized {
          let t0 = in[i, j] * w0[j]
          out[i, j] = t0 * t0
        }
        if i < 2 {
          out[i, 0] = acc[]
        } else {
          out[i, 1] = 1f32
        }
      }
    }
  }
}

internal packed main main(in: float32[4, 16]) -> (out: float32[4, 16]) allocates workspace: uint8[64] {
  call scale(in, out, workspace)
}
)");
}

TEST(PrintTest, TasksShowTheirScalars) {
  const Var task = MakeVar("task"), tasks = MakeVar("tasks");
  const Buffer x = MakeBuffer("x", kF32, {4}, BufferScope::kParam);
  Func func{.name = "f",
            .kind = Func::Kind::kTask,
            .params = {x},
            .scalars = {task, tasks},
            .body = MakeStore(x, {task}, Expr(0))};
  EXPECT_EQ(ToString(func),
            "task f(task: index, tasks: index) -> (x: float32[4]) {\n  x[task] = 0f32\n}\n");
  const Stmt launch = MakeLaunch("f", 4, {{x, task + 1}, {nullptr, tasks}});
  EXPECT_EQ(ToString(launch), "launch 4 f(x + task + 1, tasks)\n");
}

TEST(PrintTest, StageAndKernel) {
  const Buffer a = MakeBuffer("a", kF32, {4, 6}, BufferScope::kParam);
  const Buffer b = MakeBuffer("b", kF32, {6, 5}, BufferScope::kParam);
  const Buffer c = MakeBuffer("c", kF32, {4, 5}, BufferScope::kParam);
  const Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k");
  const Stage stage{.buffer = c,
                    .axes = {{i, 4}, {j, 5}},
                    .index = {i, j},
                    .reduce = {{k, 6}},
                    .combine = Combine::kSum,
                    .init = Const(kF32, 0),
                    .value = MakeLoad(a, {i, k}) * MakeLoad(b, {k, j})};
  EXPECT_EQ(ToString(Kernel{.name = "dense", .inputs = {a, b}, .outputs = {c}, .stages = {stage}}),
            R"(kernel dense(a: float32[4, 6], b: float32[6, 5]) -> (c: float32[4, 5]) {
  stage c: float32[4, 5]
    for i in 0..4, j in 0..5
    sum over k in 0..6 from 0f32
    c[i, j] = a[i, k] * b[k, j]
}
)");
}

TEST(PrintTest, StageOfRanks) {
  const Buffer a = MakeBuffer("a", DType::Int(32), {4, 6}, BufferScope::kParam);
  const Buffer order = MakeBuffer("order", DType::Int(32), {4, 2}, BufferScope::kParam);
  const Var i = MakeVar("i"), j = MakeVar("j"), place = MakeVar("place");
  const Stage stage{.buffer = order,
                    .axes = {{i, 4}, {j, 2}},
                    .index = {i, j},
                    .reduce = {{place, 6}},
                    .value = MakeLoad(a, {i, place}),
                    .rank_axis = 1};
  EXPECT_EQ(ToString(stage), R"(stage order: int32[4, 2]
  for i in 0..4, j in 0..2
  rank j of place in 0..6
  order[i, j] = a[i, place]
)");
}

}  // namespace
}  // namespace kiln::loop
