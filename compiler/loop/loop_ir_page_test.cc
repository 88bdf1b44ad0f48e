// SPDX-License-Identifier: Apache-2.0
// The examples of docs/loop_ir.md equal the output of the printers.
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/round_trip.h"
#include "compiler/loop/stage.h"
#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

Buffer MakeFloats(std::string name, Shape shape, BufferScope scope = BufferScope::kParam) {
  return MakeBuffer(std::move(name), kF32, std::move(shape), scope);
}

void ExpectOnPage(const std::string& text) {
  std::ifstream file("docs/loop_ir.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_TRUE(absl::StrContains(page.str(), "```\n" + text + "```\n")) << text;
}

TEST(LoopIrPageTest, Stages) {
  const Buffer a = MakeFloats("a", {4, 64}), w = MakeFloats("w", {64, 8});
  const Buffer bias = MakeFloats("bias", {8}), y = MakeFloats("y", {4, 8});
  const Buffer sum = MakeFloats("sum", {4, 8}, BufferScope::kWorkspace);
  const Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k");
  const Stage product{.buffer = sum,
                      .axes = {{i, 4}, {j, 8}},
                      .index = {i, j},
                      .reduce = {{k, 64}},
                      .combine = Combine::kSum,
                      .init = Const(kF32, 0),
                      .value = MakeLoad(a, {i, k}) * MakeLoad(w, {k, j})};
  const Stage biased{.buffer = y,
                     .axes = {{i, 4}, {j, 8}},
                     .index = {i, j},
                     .value = MakeLoad(sum, {i, j}) + MakeLoad(bias, {j})};
  ExpectOnPage(ToString(Kernel{
      .name = "dense", .inputs = {a, w, bias}, .outputs = {y}, .stages = {product, biased}}));
}

TEST(LoopIrPageTest, Program) {
  const Buffer a = MakeFloats("a", {4, 64}), w = MakeFloats("w", {64, 8});
  const Buffer y = MakeFloats("y", {4, 8});
  const Buffer bias = MakeFloats("bias", {8}, BufferScope::kConstant);
  const Buffer acc = MakeFloats("acc", {8}, BufferScope::kLocal);
  const Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k");
  const auto vectorized = [&](Stmt s) { return MakeFor(j, 0, 8, ForKind::kVectorized, s); };
  const Expr product = MakeLoad(a, {i, k}) * MakeLoad(w, {k, j});
  LoopProgram program;
  program.constants.push_back({bias, Tensor::Filled({{8}, kF32}, 0.5)});
  program.funcs.push_back(
      {.name = "dense",
       .params = {a, w, y},
       .num_inputs = 2,
       .body = MakeFor(
           i, 0, 4, ForKind::kParallel,
           MakeAllocate(
               acc,
               MakeBlock({vectorized(MakeStore(acc, {j}, Expr(0))),
                          MakeFor(k, 0, 64, ForKind::kSerial,
                                  vectorized(MakeStore(acc, {j}, MakeLoad(acc, {j}) + product))),
                          vectorized(
                              MakeStore(y, {i, j}, MakeLoad(acc, {j}) + MakeLoad(bias, {j})))})))});
  ExpectOnPage(ToString(program));
  EXPECT_EQ(CheckRoundTrip(program), absl::OkStatus());
  std::vector<float> left(4 * 64, 2), right(64 * 8, 0.25), out(4 * 8);
  ASSERT_TRUE(Interpreter(program).Run("dense", {left.data(), right.data(), out.data()}).ok());
  EXPECT_EQ(out, std::vector<float>(4 * 8, 32.5));
}

TEST(LoopIrPageTest, SharedNodes) {
  const Buffer x = MakeFloats("x", {16}), y = MakeFloats("y", {16});
  const Var i = MakeVar("i");
  const Expr square = MakeLoad(x, {i}) * MakeLoad(x, {i});
  ExpectOnPage(
      ToString(MakeFor(i, 0, 16, ForKind::kSerial, MakeStore(y, {i}, square / (1 + square)))));
}

}  // namespace
}  // namespace kiln::loop
