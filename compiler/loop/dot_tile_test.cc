// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/dot_tile.h"

#include <gtest/gtest.h>

namespace kiln::loop {
namespace {

const DotKind kKind = {.instruction = "smlad", .group = 4, .swaps = true, .steps = 3, .run = 2};

Buffer Of(const char* name, DType dtype) {
  return MakeBuffer(name, dtype, {64}, BufferScope::kParam);
}

TEST(DotTile, IsReadBackFromItsStore) {
  const Buffer sums = Of("sums", DType::Int(32)), a = Of("a", DType::Int(16)),
               b = Of("b", DType::Int(8));
  const Var i = MakeVar("i");
  const Stmt stmt = MakeDotTile(kKind, 2, 2, {sums, 0}, {a, i * 8}, {b, i + 4});
  const auto tile = AsDotTile(*stmt.As<Store>());
  ASSERT_TRUE(tile.has_value());
  EXPECT_EQ(tile->kind, kKind);
  EXPECT_EQ(tile->shape.rows, 2);
  EXPECT_EQ(tile->shape.columns, 2);
  EXPECT_EQ(tile->shape.run, 2);
  EXPECT_EQ(tile->shape.terms(), 12);
  EXPECT_EQ(tile->sums.buffer, sums);
  EXPECT_EQ(tile->a.buffer, a);
  EXPECT_EQ(ToString(tile->a.offset), "i * 8");
  EXPECT_EQ(ToString(tile->b.offset), "i + 4");
}

// A dot of one step, sums from elsewhere, and elements that are no neighbours are other stores.
TEST(DotTile, OtherStoresAreNone) {
  const Buffer sums = Of("sums", DType::Int(32)), a = Of("a", DType::Int(16)),
               b = Of("b", DType::Int(8));
  DotKind one_step = kKind;
  one_step.steps = 1;
  EXPECT_FALSE(
      AsDotTile(*MakeDotTile(one_step, 2, 2, {sums, 0}, {a, 0}, {b, 0}).As<Store>()).has_value());

  const Stmt stmt = MakeDotTile(kKind, 2, 2, {sums, 0}, {a, 0}, {b, 0});
  const auto& store = *stmt.As<Store>();
  EXPECT_FALSE(AsDotTile({sums, {MakeRamp(4, 1, 4)}, store.value}).has_value());
  EXPECT_FALSE(AsDotTile({Of("other", DType::Int(32)), store.index, store.value}).has_value());
  const auto& dot = *store.value.As<Dot>();
  const Expr apart = MakeDot(kKind, dot.sum, MakeLoad(a, {MakeRamp(0, 2, 24)}), dot.b);
  EXPECT_FALSE(AsDotTile({sums, store.index, apart}).has_value());
  const Expr computed = MakeDot(kKind, dot.sum, dot.a, dot.b + dot.b);
  EXPECT_FALSE(AsDotTile({sums, store.index, computed}).has_value());
}

}  // namespace
}  // namespace kiln::loop
