// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/dot_tile.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop/float16_values.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/passes.h"

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

// Stores are no tiles if their dot has one step, their sums are loaded elsewhere, or their elements
// are not contiguous.
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

const DotKind kWindow = {.instruction = "smlad_taps", .group = 3, .run = 1};

TEST(DotTile, RowsMayOverlap) {
  const Buffer sums = Of("sums", DType::Int(32)), a = Of("a", DType::Int(16)),
               b = Of("b", DType::Int(16));
  const Var i = MakeVar("i");
  for (const int slide : {1, 2}) {
    for (const DotTile::Chain& chain : {DotTile::Chain{}, DotTile::Chain{3, 20, 4}}) {
      const Stmt stmt = MakeSlidingTile(kWindow, 6, slide, chain, {sums, 0}, {a, i * 8}, {b, i});
      const auto tile = AsDotTile(*stmt.As<Store>());
      ASSERT_TRUE(tile.has_value());
      EXPECT_EQ(tile->slide, slide);
      EXPECT_EQ(tile->chain.length, chain.length);
      EXPECT_EQ(ToString(tile->chain.a_step), ToString(chain.a_step));
      EXPECT_EQ(tile->chain.b_step, chain.b_step);
      EXPECT_EQ(tile->shape.rows, 6);
      EXPECT_EQ(tile->shape.columns, 1);
      EXPECT_EQ(ToString(tile->a.offset), "i * 8");
      EXPECT_EQ(ToString(tile->b.offset), "i");
    }
  }
}

TEST(DotTile, DistancesOfAChainMayBeVariables) {
  const Buffer sums = Of("sums", DType::Int(32)), a = Of("a", DType::Int(16)),
               b = Of("b", DType::Int(16));
  const Var row = MakeVar("row"), i = MakeVar("i");
  const Stmt stmt = MakeSlidingTile(kWindow, 2, 1, {3, row * 6 + 2, 3}, {sums, 0}, {a, i}, {b, 0});
  const auto tile = AsDotTile(*stmt.As<Store>());
  ASSERT_TRUE(tile.has_value());
  EXPECT_EQ(tile->chain.length, 3);
  EXPECT_EQ(ToString(tile->chain.a_step), "row * 6 + 2");
}

TEST(DotTile, LoopsOverPartsOfAReductionAreReadBack) {
  const Buffer sums = Of("sums", DType::Int(32)), a = Of("a", DType::Int(16)),
               b = Of("b", DType::Int(8));
  const Var i = MakeVar("i");
  DotKind kind = kKind;
  for (const auto& [steps, of_part] : {std::pair(4, 4), {24, 4}, {9, 3}, {2, 2}}) {
    kind.steps = steps;
    const Stmt rolled = RollDotTiles(MakeDotTile(kind, 2, 2, {sums, 0}, {a, i * 8}, {b, i + 4}));
    const auto* loop = rolled.As<For>();
    ASSERT_NE(loop, nullptr) << ToString(rolled);
    const auto tile = AsDotTile(*loop);
    ASSERT_TRUE(tile.has_value()) << ToString(rolled);
    EXPECT_EQ(tile->kind.steps, of_part);
    EXPECT_TRUE(IsInt(tile->repeats, steps / of_part)) << ToString(rolled);
    EXPECT_EQ(ToString(tile->a.offset), "i * 8");
    EXPECT_EQ(ToString(tile->b.offset), "i + 4");
  }
  // Tiles whose parts would have one step stay as they are.
  kind.steps = 7;
  const Stmt stays = MakeDotTile(kind, 2, 2, {sums, 0}, {a, 0}, {b, 0});
  EXPECT_EQ(RollDotTiles(stays).get(), stays.get());
}

TEST(DotTile, OtherLoopsAreNone) {
  const Buffer sums = Of("sums", DType::Int(32)), a = Of("a", DType::Int(16)),
               b = Of("b", DType::Int(8));
  DotKind kind = kKind;
  kind.steps = 4;
  const Var part = MakeVar("part");
  const auto is_tile = [&](const Expr& begin, const Expr& sum, int64_t of_a, int64_t of_b) {
    const Stmt body =
        MakeDotTile(kind, 2, 2, {sums, sum}, {a, part * Expr(of_a)}, {b, part * Expr(of_b)});
    const Stmt loop = MakeFor(part, begin, 4, ForKind::kSerial, body);
    return AsDotTile(*loop.As<For>()).has_value();
  };
  EXPECT_TRUE(is_tile(0, 0, 32, 32));
  EXPECT_FALSE(is_tile(1, 0, 32, 32));
  EXPECT_FALSE(is_tile(0, part * 4, 32, 32));
  EXPECT_FALSE(is_tile(0, 0, 16, 32));
  EXPECT_FALSE(is_tile(0, 0, 32, 0));
}

// The rows of a tile, at these offsets in `a`. The last row is in buffer `last`.
Expr RowsAt(const Buffer& a, const Buffer& last, const std::vector<Expr>& offsets) {
  std::vector<Expr> rows;
  for (size_t r = 0; r < offsets.size(); ++r) {
    rows.push_back(MakeLoad(r + 1 == offsets.size() ? last : a, {MakeRamp(offsets[r], 1, 3)}));
  }
  return MakeInterleave(std::move(rows));
}

// Only tiles in matrix registers may have prefetches before their steps.
TEST(DotTile, PrefetchesAreOfTheLoop) {
  const Buffer sums = Of("sums", DType::Int(32)), a = Of("a", DType::Int(8)),
               b = Of("b", DType::Int(8));
  const Var step = MakeVar("step");
  const auto loop_of = [&](DotKind kind, const Stmt& before) {
    kind.steps = 1;
    const Stmt tile = MakeDotTile(kind, 2, 2, {sums, 0}, {a, step * Expr(2 * kind.group)},
                                  {b, step * Expr(2 * kind.group)});
    const Stmt loop =
        MakeFor(step, 0, 4, ForKind::kSerial, MakeBlock({before, MakePrefetch(b, step + 8), tile}));
    return AsDotTile(*loop.As<For>());
  };
  const DotKind kind = {.instruction = "any", .group = 8, .column_run = 4};
  const std::optional<DotTile> tile = loop_of(kind, MakePrefetch(b, step, 2));
  ASSERT_TRUE(tile.has_value());
  EXPECT_EQ(ToString(tile->repeats), "4");
  ASSERT_EQ(tile->prefetches.size(), 2);
  EXPECT_EQ(ToString(tile->prefetches[1]), "prefetch b[step + 8]\n");
  EXPECT_EQ(tile->repeat.get(), step.get());
  EXPECT_FALSE(loop_of(kind, MakeStore(a, {Expr(0)}, Const(DType::Int(8), 1))).has_value());
  EXPECT_FALSE(loop_of(kKind, MakePrefetch(b, step, 2)).has_value());
}

// Expects that the interpreter gets the same sums from the tile and from WrittenOut(tile), in a
// function of rows, columns and sums.
void ExpectSameSums(const Stmt& tile, const Buffer& sums, const Buffer& a, const Buffer& b) {
  const std::optional<DotTile> read = AsDotTile(*tile.As<Store>());
  ASSERT_TRUE(read.has_value()) << ToString(tile);
  const auto sums_of = [&](const Stmt& body) {
    LoopProgram program;
    program.funcs.push_back({.name = "f", .params = {a, b, sums}, .num_inputs = 2, .body = body});
    EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program) << ToString(body);
    std::vector<std::string> bytes;
    for (const Buffer& buffer : program.funcs[0].params) {
      const auto seed = static_cast<uint32_t>(bytes.size() + 1);
      const int64_t count = buffer->num_elements();
      bytes.push_back(buffer->dtype.is_bfloat()  ? BFloats(count, seed, /*finite=*/true)
                      : buffer->dtype.is_float() ? SumsOfBFloats(count, seed, /*finite=*/true)
                                                 : std::string());
      for (int64_t i = 0; bytes.back().size() < static_cast<size_t>(buffer->num_bytes()); ++i) {
        bytes.back().push_back(static_cast<char>(i * 37 + seed * 11));
      }
    }
    Interpreter interpreter(program);
    EXPECT_TRUE(interpreter.Run("f", {bytes[0].data(), bytes[1].data(), bytes[2].data()}).ok());
    return bytes[2];
  };
  EXPECT_TRUE(sums_of(tile) == sums_of(WrittenOut(*read))) << ToString(WrittenOut(*read));
}

TEST(DotTile, WrittenOutHasTheSameSums) {
  const auto buffer = [](const char* name, DType dtype, int elements) {
    return MakeBuffer(name, dtype, {elements}, BufferScope::kParam);
  };
  for (const auto& [rows, columns] : {std::pair{1, 2}, {3, 5}, {4, 2}}) {
    for (const DotKind& kind :
         {DotKind{.instruction = "any", .group = 8, .steps = 3},
          DotKind{.instruction = "any", .group = 8, .steps = 1, .column_run = 2},
          DotKind{.instruction = "any", .group = 8, .steps = 3, .column_run = 4},
          DotKind{.instruction = "any", .group = 8, .steps = 2, .column_run = 2, .parts = 3},
          kKind}) {
      const int terms = static_cast<int>(kind.elements());
      const Buffer a = buffer("a", DType::Int(8), rows * terms),
                   b = buffer("b", DType::UInt(8), columns * terms),
                   sums = buffer("sums", DType::Int(32), rows * columns);
      ExpectSameSums(MakeDotTile(kind, rows, columns, {sums, 0}, {a, 0}, {b, 0}), sums, a, b);
      const Buffer x = buffer("x", DType::BFloat(), rows * terms),
                   y = buffer("y", DType::BFloat(), columns * terms),
                   of_floats = buffer("of_floats", DType::Float(32), rows * columns);
      if (kind.swaps) continue;
      ExpectSameSums(MakeDotTile(kind, rows, columns, {of_floats, 0}, {x, 0}, {y, 0}), of_floats, x,
                     y);
    }
  }
}

// Rows at unequal distances, rows of several buffers, and equal rows.
TEST(DotTile, OtherRowsDoNotSlide) {
  const Buffer sums = Of("sums", DType::Int(32)), a = Of("a", DType::Int(16)),
               other = Of("other", DType::Int(16)), b = Of("b", DType::Int(16));
  const Stmt stmt = MakeSlidingTile(kWindow, 4, 1, {}, {sums, 0}, {a, 0}, {b, 0});
  const auto& store = *stmt.As<Store>();
  const auto& dot = *store.value.As<Dot>();
  const auto with = [&](const Buffer& last, const std::vector<Expr>& offsets) {
    const Expr value = MakeDot(kWindow, dot.sum, RowsAt(a, last, offsets), dot.b);
    return AsDotTile({sums, store.index, value}).has_value();
  };
  EXPECT_TRUE(with(a, {0, 2, 4, 6}));
  EXPECT_FALSE(with(a, {0, 2, 4, 5}));
  EXPECT_FALSE(with(a, {0, 0, 0, 0}));
  EXPECT_FALSE(with(a, {6, 4, 2, 0}));
  EXPECT_FALSE(with(a, {0, 1, 2, MakeVar("i")}));
  EXPECT_FALSE(with(other, {0, 1, 2, 3}));
}

// Dots whose factors are at unequal distances, and dots of different kinds.
TEST(DotTile, OtherChainsAreNone) {
  const Buffer sums = Of("sums", DType::Int(32)), a = Of("a", DType::Int(16)),
               b = Of("b", DType::Int(16));
  const Stmt stmt = MakeSlidingTile(kWindow, 2, 1, {2, 8, 3}, {sums, 0}, {a, 0}, {b, 0});
  const auto& store = *stmt.As<Store>();
  const auto with = [&](const DotKind& kind, int64_t at_a, int64_t at_b) {
    const Expr value = MakeDot(kind, store.value, RowsAt(a, a, {at_a, at_a + 1}),
                               MakeLoad(b, {MakeRamp(at_b, 1, 3)}));
    return AsDotTile({sums, store.index, value}).has_value();
  };
  EXPECT_TRUE(with(kWindow, 16, 6));
  EXPECT_FALSE(with(kWindow, 17, 6));
  EXPECT_FALSE(with(kWindow, 16, 7));
  DotKind other = kWindow;
  other.instruction = "another";
  EXPECT_FALSE(with(other, 16, 6));
}

}  // namespace
}  // namespace kiln::loop
