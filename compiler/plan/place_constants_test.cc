// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/place_constants.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/loop/loop.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// A program with one function that reads each constant in a loop with that many iterations.
loop::LoopProgram ReadsConstants(const std::vector<std::pair<int64_t, int64_t>>& sizes_and_times,
                                 int alignment_bytes = 64) {
  const DType f32 = DType::Float(32);
  loop::LoopProgram program;
  loop::Func func;
  func.name = "f";
  std::vector<loop::Stmt> body;
  const loop::Buffer out = loop::MakeBuffer("out", f32, {1}, loop::BufferScope::kParam);
  func.params = {out};
  for (const auto& [size, times] : sizes_and_times) {
    const TensorType type{{size}, f32};
    const loop::Buffer constant =
        loop::MakeBuffer("c" + std::to_string(program.constants.size()), f32, type.shape,
                         loop::BufferScope::kConstant, alignment_bytes);
    program.constants.push_back({constant, Tensor::Filled(type, 1)});
    const loop::Var i = loop::MakeVar("i");
    body.push_back(loop::MakeFor(
        i, 0, times, loop::ForKind::kSerial,
        loop::MakeStore(out, {loop::Expr(0)}, loop::MakeLoad(constant, {loop::Expr(0)}))));
  }
  func.body = loop::MakeBlock(std::move(body));
  program.funcs.push_back(std::move(func));
  return program;
}

TEST(PlaceConstants, WhatIsReadMostIsInTheFastestPool) {
  loop::LoopProgram program = ReadsConstants({{16, 1}, {16, 100}, {32, 100}});
  Plan plan;
  ASSERT_TRUE(PlaceConstants({{.name = "flash"}, {.name = "itcm", .limit_bytes = 64, .speed = 3}},
                             program, plan)
                  .ok());
  EXPECT_EQ(program.constants[0].pool, "flash");
  EXPECT_EQ(program.constants[1].pool, "itcm");
  EXPECT_EQ(program.constants[2].pool, "flash");
  ASSERT_EQ(plan.constant_pools.size(), 2u);
  EXPECT_EQ(plan.constant_pools[1].name, "itcm");
}

// The hot constant would fill the only pool into which the other one fits.
TEST(PlaceConstants, WhatFitsIsPlaced) {
  for (const double speed : {4.0, 1.0, 0.25}) {
    loop::LoopProgram program = ReadsConstants({{16, 100}, {32, 1}});
    Plan plan;
    EXPECT_EQ(PlaceConstants({{.name = "first", .limit_bytes = 128, .speed = speed},
                              {.name = "second", .limit_bytes = 64}},
                             program, plan),
              absl::OkStatus());
    EXPECT_EQ(program.constants[0].pool, "second");
    EXPECT_EQ(program.constants[1].pool, "first");
  }
}

TEST(PlaceConstants, WithoutPoolsNothingChanges) {
  loop::LoopProgram program = ReadsConstants({{16, 1}});
  Plan plan;
  ASSERT_TRUE(PlaceConstants({}, program, plan).ok());
  EXPECT_EQ(program.constants[0].pool, "");
  EXPECT_TRUE(plan.constant_pools.empty());
}

TEST(PlaceConstants, EachTakesWhatItsAlignmentNeeds) {
  loop::LoopProgram program = ReadsConstants({{3, 1}, {5, 1}}, /*alignment_bytes=*/16);
  Plan plan;
  ASSERT_EQ(PlaceConstants({{.name = "rom", .limit_bytes = 16 + 32}}, program, plan),
            absl::OkStatus());
  EXPECT_EQ(plan.constant_pools[0].alignment_bytes, 16);
  EXPECT_FALSE(PlaceConstants({{.name = "rom", .limit_bytes = 16 + 31}}, program, plan).ok());
}

TEST(PlaceConstants, PoolsThatAreTooSmall) {
  loop::LoopProgram program = ReadsConstants({{16, 1}, {100, 1}});
  Plan plan;
  EXPECT_EQ(PlaceConstants({{.name = "rom", .limit_bytes = 64}}, program, plan).message(),
            "the pools of constants ('rom' 64 bytes) are too small: 448 bytes have no place: 'c1' "
            "(400 bytes)");
}

}  // namespace
}  // namespace kiln
