// SPDX-License-Identifier: Apache-2.0
#include "compiler/variants/merge_constants.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/tensor.h"
#include "compiler/loop/passes.h"

namespace kiln {
namespace {

using loop::BufferScope;

constexpr DType kFloat = DType::Float(32);

struct Made {
  std::vector<float> values;
  DType dtype = kFloat;
  Shape shape = {2};
  int alignment_bytes = 64;
};

// Adds a function that loads its constants, named <function>_w<i>, and stores the values.
void AddFunc(const std::string& name, const std::vector<Made>& constants,
             loop::LoopProgram& program) {
  const loop::Buffer out = loop::MakeBuffer("out", kFloat, {8}, BufferScope::kParam);
  std::vector<loop::Stmt> stores;
  for (const Made& made : constants) {
    const loop::Buffer buffer =
        loop::MakeBuffer(absl::StrCat(name, "_w", stores.size()), made.dtype, made.shape,
                         BufferScope::kConstant, made.alignment_bytes);
    program.constants.push_back({buffer, Tensor::From<float>(made.shape, made.dtype, made.values)});
    const std::vector<loop::Expr> first(made.shape.size(), loop::Expr(0));
    stores.push_back(loop::MakeStore(out, {loop::Expr(static_cast<int>(stores.size()))},
                                     loop::MakeCast(kFloat, loop::MakeLoad(buffer, first))));
  }
  loop::Func func;
  func.name = name;
  func.params = {out};
  func.body = loop::MakeBlock(std::move(stores));
  program.funcs.push_back(std::move(func));
}

std::string Names(const std::vector<loop::Constant>& constants) {
  return absl::StrJoin(constants, " ", [](std::string* out, const loop::Constant& constant) {
    absl::StrAppend(out, constant.buffer->name);
  });
}

// Returns the names of the constants that are left of one program, and checks that the program is
// valid.
std::string Merged(loop::LoopProgram program) {
  program.constants = MergeConstants({"host"}, {&program});
  EXPECT_TRUE(loop::VerifyProgram(program).ok()) << loop::VerifyProgram(program);
  return Names(program.constants);
}

TEST(MergeConstants, KeepsTheFirstOfEqualOnes) {
  loop::LoopProgram program;
  AddFunc("f", {{{1, 2}}, {{3, 4}}}, program);
  AddFunc("g", {{{3, 4}}, {{1, 3}}}, program);
  AddFunc("h", {{{1, 2}}, {{1, 3}}}, program);
  EXPECT_EQ(Merged(program), "f_w0 f_w1 g_w1");
  program.constants = MergeConstants({"host"}, {&program});
  EXPECT_EQ(loop::ToString(program.funcs[2].body), "out[0] = f_w0[0]\nout[1] = g_w1[0]\n");
}

TEST(MergeConstants, OnlyWhatIsTheSame) {
  const std::vector<Made> others = {{.values = {1, 3}},
                                    {.values = {1, 2}, .dtype = DType::Int(32)},
                                    {.values = {1, 2}, .shape = {1, 2}},
                                    {.values = {1, 2}, .alignment_bytes = 16},
                                    {.values = {-0.0f, 2}}};
  for (const Made& other : others) {
    loop::LoopProgram program;
    AddFunc("f", {{{1, 2}}, {{0.0f, 2}}}, program);
    AddFunc("g", {other}, program);
    EXPECT_EQ(Merged(program), "f_w0 f_w1 g_w0");
  }
}

// Merging them would make the functions differ in more than the contents of constants.
TEST(MergeConstants, ThoseOfOneFunctionStayApart) {
  loop::LoopProgram program;
  AddFunc("f", {{{0, 0}}, {{0, 0}}}, program);
  AddFunc("g", {{{0, 0}}, {{5, 5}}}, program);
  AddFunc("h", {{{0, 0}}, {{0, 0}}, {{0, 0}}}, program);
  EXPECT_EQ(Merged(program), "f_w0 f_w1 g_w1 h_w2");
}

TEST(MergeConstants, WhatSharesABodyStillDoes) {
  loop::LoopProgram program;
  AddFunc("f", {{{1, 2}}}, program);
  AddFunc("g", {{{1, 2}}, {{3, 4}}}, program);
  program.funcs.push_back(program.funcs.back());
  program.funcs.back().name = "h";
  program.constants = MergeConstants({"host"}, {&program});
  EXPECT_EQ(loop::ToString(program.funcs[1].body), "out[0] = f_w0[0]\nout[1] = g_w1[0]\n");
  EXPECT_EQ(program.funcs[1].body.get(), program.funcs[2].body.get());
}

TEST(MergeConstants, LeavesOutWhatNothingReads) {
  loop::LoopProgram program;
  AddFunc("f", {{{1, 2}}}, program);
  AddFunc("g", {{{3, 4}}}, program);
  program.funcs.pop_back();
  EXPECT_EQ(Merged(program), "f_w0");
}

TEST(MergeConstants, OfSeveralVariants) {
  loop::LoopProgram low, high;
  AddFunc("f", {{{1, 2}}, {{3, 4}}}, low);
  AddFunc("f", {{{1, 2}}, {{4, 3}}}, high);
  const std::vector<loop::Constant> all = MergeConstants({"x86-64-v2", "x86-64-v3"}, {&low, &high});
  EXPECT_EQ(Names(all), "f_w0 f_w1 f_w1_x86_64_v3");
  EXPECT_EQ(loop::ToString(high.funcs[0].body), "out[0] = f_w0[0]\nout[1] = f_w1_x86_64_v3[0]\n");
  for (loop::LoopProgram* program : {&low, &high}) {
    program->constants = all;
    EXPECT_TRUE(loop::VerifyProgram(*program).ok()) << loop::VerifyProgram(*program);
  }
}

}  // namespace
}  // namespace kiln
