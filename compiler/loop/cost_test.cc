// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/cost.h"

#include <limits>

#include "compiler/loop/math.h"
#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

Buffer Param(std::string name, Shape shape, DType dtype = kF32) {
  return MakeBuffer(std::move(name), dtype, std::move(shape), BufferScope::kParam);
}

// A stage that computes out[i] for all i below `extent`.
Stage Pointwise(const Buffer& out, int64_t extent, const std::function<Expr(Expr)>& value) {
  const Var i = MakeVar("i");
  return {.buffer = out, .axes = {{i, extent}}, .index = {i}, .value = value(i)};
}

// C[i, j] = sum over k of A[i, k] * B[k, j], B a constant.
Kernel Product(int64_t m, int64_t n, int64_t k) {
  const Buffer a = Param("a", {m, k}), c = Param("c", {m, n});
  const Buffer b = MakeBuffer("b", kF32, {k, n}, BufferScope::kConstant);
  const Var i = MakeVar("i"), j = MakeVar("j"), r = MakeVar("r");
  return {.name = "product",
          .inputs = {a},
          .outputs = {c},
          .constants = {{b, Tensor()}},
          .stages = {{.buffer = c,
                      .axes = {{i, m}, {j, n}},
                      .index = {i, j},
                      .reduce = {{r, k}},
                      .combine = Combine::kSum,
                      .init = Const(kF32, 0),
                      .value = MakeLoad(a, {i, r}) * MakeLoad(b, {r, j})}}};
}

// The cost of one stage that reads one input of `in` elements.
Cost OfValue(int64_t in, int64_t points, const std::function<Expr(const Buffer&, Expr)>& value,
             DType dtype = kF32) {
  const Buffer x = Param("x", {in}, dtype);
  const Stage probe = Pointwise(x, points, [&](Expr i) { return value(x, std::move(i)); });
  const Buffer out = Param("out", {points}, probe.value.type().dtype);
  Stage stage = probe;
  stage.buffer = out;
  return CostOf({.name = "f", .inputs = {x}, .outputs = {out}, .stages = {stage}});
}

TEST(Cost, AMatrixProductMultipliesAndAdds) {
  EXPECT_EQ(CostOf(Product(3, 5, 7)), (Cost{2 * 3 * 5 * 7, 4 * (3 * 7 + 7 * 5 + 3 * 5)}));
}

TEST(Cost, ArithmeticOfElementsCounts) {
  // A minimum and a maximum.
  EXPECT_EQ(OfValue(8, 8,
                    [](const Buffer& x, const Expr& i) {
                      return Max(Min(MakeLoad(x, {i}), Const(kF32, 6)), Const(kF32, 0));
                    }),
            (Cost{2 * 8, 2 * 4 * 8}));
  // A fused multiply-add.
  EXPECT_EQ(OfValue(8, 8,
                    [](const Buffer& x, const Expr& i) {
                      const Expr value = MakeLoad(x, {i});
                      return MakeFma(value, value, Const(kF32, 1));
                    })
                .operations,
            2 * 8);
  // A comparison and a negation count, the select does not.
  EXPECT_EQ(OfValue(8, 8,
                    [](const Buffer& x, const Expr& i) {
                      const Expr value = MakeLoad(x, {i});
                      return MakeSelect(value < Const(kF32, 0), -value, value);
                    })
                .operations,
            2 * 8);
  // The conversion does not count, the product of integers does.
  EXPECT_EQ(OfValue(
                8, 8,
                [](const Buffer& x, const Expr& i) {
                  const Expr value = MakeCast(DType::Int(32), MakeLoad(x, {i}));
                  return value * value;
                },
                kI8),
            (Cost{8, 8 + 4 * 8}));
}

TEST(Cost, SharedValuesCountOnce) {
  EXPECT_EQ(OfValue(4, 4,
                    [](const Buffer& x, const Expr& i) {
                      const Expr y = MakeLoad(x, {i}) + Const(kF32, 1);
                      return y * y;
                    })
                .operations,
            2 * 4);
}

TEST(Cost, IndicesAndGuardsDoNotCount) {
  // A padded copy.
  EXPECT_EQ(OfValue(6, 8,
                    [](const Buffer& x, const Expr& i) {
                      const Expr at = Min(Max(i - Expr(1), Expr(0)), Expr(5));
                      return MakeSelect(i >= Expr(1) && i < Expr(7), MakeLoad(x, {at}),
                                        Const(kF32, 0));
                    }),
            (Cost{0, 4 * (6 + 8)}));
  // A table that is read at places computed from elements.
  const Buffer places = Param("places", {4}, DType::Int(64)), table = Param("table", {100});
  const Buffer out = Param("out", {4});
  const Stage stage = Pointwise(out, 4, [&](const Expr& i) {
    const Expr place = MakeCast(Type::Index(), MakeLoad(places, {i}));
    return MakeLoad(table, {Min(Max(place, Expr(0)), Expr(99))});
  });
  EXPECT_EQ(CostOf({.name = "f", .inputs = {places, table}, .outputs = {out}, .stages = {stage}}),
            (Cost{0, 4 * 8 + 4 * 4 + 4 * 4}));
}

TEST(Cost, WhatIsNotReadIsNotAccessed) {
  // Only every tenth element is read. Nothing is read from an input that only provides its shape.
  EXPECT_EQ(
      OfValue(100, 10, [](const Buffer& x, const Expr& i) { return MakeLoad(x, {i * Expr(10)}); })
          .accessed_bytes,
      4 * (10 + 10));
  EXPECT_EQ(OfValue(100, 10, [](const Buffer&, const Expr&) { return Const(kF32, 1); }),
            (Cost{0, 4 * 10}));
}

TEST(Cost, StagesAddUpAndWhatIsBetweenThemIsNotAccessed) {
  const Buffer x = Param("x", {4, 10}), out = Param("out", {4});
  const Buffer sum = MakeBuffer("sum", kF32, {4}, BufferScope::kWorkspace);
  const Var i = MakeVar("i"), r = MakeVar("r");
  const Stage total{.buffer = sum,
                    .axes = {{i, 4}},
                    .index = {i},
                    .reduce = {{r, 10}},
                    .combine = Combine::kSum,
                    .init = Const(kF32, 0),
                    .value = MakeLoad(x, {i, r})};
  const Stage mean =
      Pointwise(out, 4, [&](const Expr& at) { return MakeLoad(sum, {at}) / Const(kF32, 10); });
  EXPECT_EQ(CostOf({.name = "f", .inputs = {x}, .outputs = {out}, .stages = {total, mean}}),
            (Cost{4 * 10 + 4, 4 * (4 * 10 + 4)}));
}

TEST(Cost, ElementaryFunctionsAreTheirPolynomials) {
  const auto of = [](const std::function<Expr(Expr)>& f) {
    return OfValue(1, 1, [&](const Buffer& x, const Expr& i) { return f(MakeLoad(x, {i})); })
        .operations;
  };
  const int64_t exp = of([](Expr x) { return Exp(std::move(x)); });
  EXPECT_GT(exp, 10);
  EXPECT_EQ(of([](Expr x) { return Sqrt(std::move(x)); }), 1);
  EXPECT_EQ(of([](Expr x) { return Exp(std::move(x) + Const(kF32, 1)); }), exp + 1);
}

TEST(Cost, WhatDoesNotFitIsTheMost) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLarge = int64_t{1} << 30;
  EXPECT_EQ(CostOf(Product(kLarge, kLarge, 4)).operations, kMost);
  EXPECT_EQ(CostOf(Product(0, kLarge, kLarge)).operations, 0);
}

}  // namespace
}  // namespace kiln::loop
