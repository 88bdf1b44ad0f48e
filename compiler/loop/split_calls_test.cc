// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

constexpr DType kFloat = DType::Float(32);

Buffer Param(const std::string& name, int64_t elements) {
  return MakeBuffer(name, kFloat, {elements}, BufferScope::kParam);
}

// add_<k>(in, out): out[0] = in[0] + k.
void AddOperator(LoopProgram& program, int k) {
  Func func;
  func.name = absl::StrCat("add_", k);
  func.params = {Param("in", 1), Param("out", 1)};
  func.num_inputs = 1;
  func.body =
      MakeStore(func.params[1], {Expr(0)}, MakeLoad(func.params[0], {Expr(0)}) + Const(kFloat, k));
  program.funcs.push_back(func);
}

// main(in, out, pool): calls operators from `in` through `calls - 1` places in `pool` to `out`.
Func Chain(LoopProgram& program, int calls) {
  Func main;
  main.name = "main";
  main.kind = Func::Kind::kMain;
  main.params = {Param("in", 1), Param("out", 1), Param("pool", calls)};
  main.num_inputs = 1;
  main.num_pools = 1;
  std::vector<Stmt> stmts;
  Argument from = {main.params[0], Expr(0)};
  for (int k = 0; k < calls; ++k) {
    AddOperator(program, k);
    const Argument to =
        k + 1 == calls ? Argument{main.params[1], Expr(0)} : Argument{main.params[2], Expr(k)};
    stmts.push_back(MakeCall(absl::StrCat("add_", k), {from, to}, k));
    from = to;
  }
  main.body = MakeBlock(stmts);
  return main;
}

TEST(SplitCalls, FewCallsStay) {
  LoopProgram program;
  Func main = Chain(program, 4);
  const std::string before = ToString(main);
  EXPECT_TRUE(SplitCalls(program, 4, main).empty());
  EXPECT_EQ(ToString(main), before);
}

TEST(SplitCalls, PartsTakeWhatTheirCallsNeed) {
  LoopProgram program;
  Func main = Chain(program, 7);
  const std::vector<Func> parts = SplitCalls(program, 3, main);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(ToString(main.body),
            "call main_part0(in, pool)\ncall main_part1(pool)\ncall main_part2(pool, out)\n");
  EXPECT_EQ(ToString(parts[0]),
            "internal operator main_part0(in: float32[1]) -> (pool: float32[7]) {\n"
            "  call add_0(in, pool) profile 0\n"
            "  call add_1(pool, pool + 1) profile 1\n"
            "  call add_2(pool + 1, pool + 2) profile 2\n"
            "}\n");
}

TEST(SplitCalls, ComputesTheSame) {
  LoopProgram program;
  Func main = Chain(program, 100);
  program.profile_hook = "hook";
  for (Func& part : SplitCalls(program, 9, main)) program.funcs.push_back(std::move(part));
  program.funcs.push_back(std::move(main));
  ASSERT_EQ(VerifyProgram(program), absl::OkStatus());
  EXPECT_EQ(program.funcs.size(), 100u + 12 + 1);
  std::array<float, 1> in = {1}, out = {};
  std::array<float, 100> pool = {};
  Interpreter interpreter(program);
  const std::array<void*, 3> args = {in.data(), out.data(), pool.data()};
  ASSERT_EQ(interpreter.Run("main", args), absl::OkStatus());
  EXPECT_EQ(out[0], 1 + 99 * 100 / 2);
}

// The limit of calls also limits the number of arguments.
TEST(SplitCalls, PartsTakeFewBuffers) {
  LoopProgram program;
  AddOperator(program, 1);
  Func main;
  main.name = "main";
  std::vector<Stmt> stmts;
  for (int k = 0; k < 40; ++k) {
    main.params.push_back(Param(absl::StrCat("out", k), 1));
    main.params.push_back(Param(absl::StrCat("more", k), 1));
    stmts.push_back(MakeCall(
        "add_1", {{main.params[main.params.size() - 2], Expr(0)}, {main.params.back(), Expr(0)}}));
  }
  main.body = MakeBlock(stmts);
  const std::vector<Func> parts = SplitCalls(program, 8, main);
  EXPECT_EQ(parts.size(), 10u);
  for (const Func& part : parts) EXPECT_EQ(part.params.size(), 8u);
}

TEST(SplitCalls, OtherFunctionsStay) {
  LoopProgram program;
  Func main = Chain(program, 5);
  const Buffer local = MakeBuffer("local", kFloat, {8}, BufferScope::kLocal);
  main.body = MakeAllocate(local, main.body);
  EXPECT_TRUE(SplitCalls(program, 2, main).empty());
}

}  // namespace
}  // namespace kiln::loop
