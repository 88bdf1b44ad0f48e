// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/expr_pool.h"

#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

// x doubled `times` times: `times` nodes, and 2^times paths.
Expr Doubled(const Expr& x, int times) {
  Expr sum = x;
  for (int i = 0; i < times; ++i) sum = MakeBinary(BinaryOp::kAdd, sum, sum);
  return sum;
}

TEST(ExprPool, OneNodePerStructure) {
  const Var i = MakeVar("i");
  ExprPool pool;
  const Expr first = pool.Intern(i + Expr(1));
  EXPECT_EQ(pool.Intern(i + Expr(1)).get(), first.get());
  EXPECT_NE(pool.Intern(i + Expr(2)).get(), first.get());
  EXPECT_EQ(pool.Id(pool.Intern(Expr(i))), 0);
}

// A node on many paths is interned once.
TEST(ExprPool, SharedNodesCostNothing) {
  const Var i = MakeVar("i");
  ExprPool pool;
  const Expr first = pool.Intern(Doubled(i, 64));
  EXPECT_EQ(pool.Intern(Doubled(i, 64)).get(), first.get());
}

}  // namespace
}  // namespace kiln::loop
