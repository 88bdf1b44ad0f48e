// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

class SimplifyTest : public ::testing::Test {
 protected:
  SimplifyTest() {
    bounds_[i.get()] = {0, 13};
    bounds_[j.get()] = {0, 7};
    bounds_[k.get()] = {-1, 2};
  }

  std::string Simplified(const Expr& e) { return ToString(Simplify(e, bounds_)); }

  const Var i = MakeVar("i");  // 0 … 13
  const Var j = MakeVar("j");  // 0 … 7
  const Var k = MakeVar("k");  // -1 … 2
  const Var n = MakeVar("n");  // anything
  Bounds bounds_;
};

TEST_F(SimplifyTest, SumsAreCollected) {
  EXPECT_EQ(Simplified(i + j * 3 + 5 + i - 2), ToString(i * 2 + j * 3 + 3));
  EXPECT_EQ(Simplified(i - i), "0");
  EXPECT_EQ(Simplified((i + j) * 4 - j * 4), ToString(i * 4));
  EXPECT_EQ(Simplified((i + 1) * (j + 2) - (i + 1) * (j + 2)), "0");
  EXPECT_EQ(Simplified(n + i - n), "i");
  EXPECT_EQ(Simplified(Expr(3) - i), ToString(Expr(3) - i));
}

TEST_F(SimplifyTest, QuotientsOfMixedRadixNumbers) {
  const Expr flat = (i * 8 + j) * 5 + 3;
  EXPECT_EQ(Simplified(flat / 40), "i");
  EXPECT_EQ(Simplified(flat / 5 % 8), "j");
  EXPECT_EQ(Simplified(flat % 5), "3");
  EXPECT_EQ(Simplified(flat / 5), ToString(i * 8 + j));
  EXPECT_EQ(Simplified(flat % 40), ToString(j * 5 + 3));
  EXPECT_EQ(Simplified((i * 8 + j) / 16), ToString(i / 2));
  EXPECT_EQ(Simplified((i * 8 + j) % 16), ToString(j + i % 2 * 8));
  EXPECT_EQ(Simplified((i * 8 + j + 8) / 8), ToString(i + 1));
}

TEST_F(SimplifyTest, QuotientsAndRemaindersOfOneNumberMeetAgain) {
  EXPECT_EQ(Simplified(n / 8 * 8 + n % 8), "n");
  EXPECT_EQ(Simplified(i / 12 * 12 + i / 4 % 3 * 4 + i % 4), "i");
  EXPECT_EQ(Simplified(n / 3 / 5), ToString(n / 15));
  EXPECT_EQ(Simplified(n % 12 % 4), ToString(n % 4));
  EXPECT_EQ(Simplified(i - i / 4 * 4), ToString(i % 4));
}

TEST_F(SimplifyTest, TruncationOfNegativeNumbersIsKept) {
  // (4k + j) / 4 is not k + j / 4 if 4k + j may be negative.
  EXPECT_EQ(Simplified((k * 4 + j) / 4), ToString((k * 4 + j) / 4));
  EXPECT_EQ(Simplified(k / 4), "0");
  EXPECT_EQ(Simplified(k % 4), "k");
  EXPECT_EQ(Simplified(k * 8 / 4), ToString(k * 2));
}

TEST_F(SimplifyTest, RangesDecide) {
  EXPECT_EQ(Simplified(Min(i, 13)), "i");
  EXPECT_EQ(Simplified(Max(Min(i * 2 + k, 28), -1)), ToString(i * 2 + k));
  EXPECT_EQ(Simplified(Max(k, 0)), ToString(Max(k, 0)));
  EXPECT_EQ(Simplified(Min(Min(n, 5), 3)), ToString(Min(n, 3)));
  EXPECT_EQ(Simplified(i < 14), "true");
  EXPECT_EQ(Simplified(i + k >= -1 && i < 14), "true");
  EXPECT_EQ(Simplified(i * 2 == j * 4 + 1), "false");
  EXPECT_EQ(Simplified(i <= i + k + 1), "true");
}

TEST_F(SimplifyTest, ComparisonsHaveOneForm) {
  EXPECT_EQ(Simplified(i * 2 > 5), ToString(i >= 3));
  EXPECT_EQ(Simplified(Expr(5) < i * 2), ToString(i >= 3));
  EXPECT_EQ(Simplified(i * 2 <= 5), ToString(i < 3));
  EXPECT_EQ(Simplified(Expr(6) - i * 2 <= 1), ToString(i >= 3));
  EXPECT_EQ(Simplified(Not(i < 3)), ToString(i >= 3));
  EXPECT_EQ(Simplified(i < 3 && i < 5), ToString(i < 3));
  EXPECT_EQ(Simplified(i < 3 && i >= 3), "false");
  EXPECT_EQ(Simplified(i < 3 || i >= 3), "true");
}

TEST_F(SimplifyTest, FloatsKeepEveryBit) {
  const Buffer x = MakeBuffer("x", DType::Float(32), {14}, BufferScope::kParam);
  const Expr v = MakeLoad(x, {i});
  EXPECT_EQ(Simplified(v + Const(DType::Float(32), 0)), ToString(v + Const(DType::Float(32), 0)));
  EXPECT_EQ(Simplified(v * Const(DType::Float(32), 0)), ToString(v * Const(DType::Float(32), 0)));
  EXPECT_EQ(Simplified(v - v), ToString(v - v));
  EXPECT_EQ(Simplified(Not(v < Const(DType::Float(32), 0))),
            ToString(Not(v < Const(DType::Float(32), 0))));
}

TEST_F(SimplifyTest, CastsThatKeepTheValueAreDropped) {
  const Buffer x = MakeBuffer("x", DType::Int(8), {14}, BufferScope::kParam);
  const Expr v = MakeLoad(x, {i});
  EXPECT_EQ(Simplified(MakeCast(DType::Int(8), MakeCast(DType::Int(32), v))), ToString(v));
  EXPECT_EQ(Simplified(ToIndex(MakeCast(DType::Int(32), i))), "i");
  const Expr wide = MakeCast(DType::Int(32), v);
  EXPECT_EQ(Simplified(Max(wide, Const(DType::Int(32), -128))), ToString(wide));
  EXPECT_EQ(Simplified(wide * wide + wide < Const(DType::Int(32), 20000)), "true");
}

TEST_F(SimplifyTest, StatementsTellRanges) {
  const Buffer x = MakeBuffer("x", DType::Float(32), {64}, BufferScope::kParam);
  const Var a = MakeVar("a");
  const Var b = MakeVar("b");
  auto store = [&](const Expr& index) { return MakeStore(x, {index}, Const(DType::Float(32), 1)); };
  // A loop of one iteration, a loop of none, and a condition that the range decides.
  const Stmt s = MakeFor(
      a, 2, 1, ForKind::kSerial,
      MakeFor(b, 0, 8, ForKind::kSerial,
              MakeBlock({MakeIf(b < a * 4, store((b + a * 8) / 8), store(0)),
                         MakeFor(MakeVar("c"), 0, Min(b, -1), ForKind::kSerial, store(1))})));
  EXPECT_EQ(ToString(Simplify(s)), ToString(MakeFor(b, 0, 8, ForKind::kSerial, store(2))));
  // A condition narrows the range in its branches.
  const Stmt t = MakeFor(b, 0, 8, ForKind::kSerial,
                         MakeIf(b >= 3 && b < 5, store(Max(b, 3)), store(Min(b, 7))));
  EXPECT_EQ(ToString(Simplify(t)), ToString(MakeFor(b, 0, 8, ForKind::kSerial,
                                                    MakeIf(b >= 3 && b < 5, store(b), store(b)))));
}

// A condition of a sum narrows the range of the sum, in its branches only.
TEST_F(SimplifyTest, ConditionsTellRangesOfSums) {
  const Buffer x = MakeBuffer("x", DType::Float(32), {64}, BufferScope::kParam);
  const Var row = MakeVar("row"), tap = MakeVar("tap");
  const auto store = [&](const Expr& index) {
    return MakeStore(x, {index}, Const(DType::Float(32), 1));
  };
  const auto simplified = [&](const Stmt& inside) {
    const Expr sum = row + tap;
    const Stmt body = MakeBlock(
        {MakeIf(sum >= 1 && sum < 51, inside, store(0)), store(Max(Min(row + tap - 1, 49), 0))});
    return ToString(Simplify(
        MakeFor(row, 0, 50, ForKind::kSerial, MakeFor(tap, 0, 3, ForKind::kSerial, body))));
  };
  const std::string clear = simplified(store(row + tap - 1));
  EXPECT_EQ(simplified(store(Max(Min(row + tap - 1, 49), 0))), clear);
  EXPECT_EQ(simplified(MakeIf(row + tap < 60, store(row + tap - 1))), clear);
  EXPECT_NE(simplified(store(Max(Min(row + tap - 1, 48), 0))), clear);
  EXPECT_NE(simplified(store(Max(Min(row + tap * 2 - 1, 49), 0))), clear);
  EXPECT_NE(clear.find("max(min("), std::string::npos) << clear;
}

// Random expressions keep their value at every point of their range.
class RandomExprs {
 public:
  RandomExprs(std::mt19937& rng, const std::vector<Var>& vars) : rng_(rng), vars_(vars) {}

  Expr Index(int depth) {
    if (depth == 0 || Pick(6) == 0) {
      return Pick(3) == 0 ? Expr(Pick(25) - 12) : vars_[Pick(static_cast<int>(vars_.size()))];
    }
    const Expr a = Index(depth - 1);
    switch (Pick(11)) {
      case 0:
      case 1:
        return a + Index(depth - 1);
      case 2:
        return a - Index(depth - 1);
      case 3:
      case 4:
        return a * Expr(Pick(17) - 6);
      case 5:
        return a / Expr(Pick(3) == 0 ? Pick(9) - 3 : 1 << Pick(4));
      case 6:
        return a % Expr(Pick(3) == 0 ? Pick(9) - 3 : 1 << Pick(4));
      case 7:
        return Min(a, Index(depth - 1));
      case 8:
        return Max(a, Index(depth - 1));
      case 9:
        return MakeSelect(Condition(depth - 1), a, Index(depth - 1));
      default:
        return a % Expr(6) + a / Expr(6) * Expr(6 * (1 + Pick(2)));
    }
  }

  Expr Condition(int depth) {
    const Expr c = MakeCompare(static_cast<CompareOp>(Pick(6)), Index(depth), Index(depth));
    if (depth == 0 || Pick(3) != 0) return c;
    switch (Pick(3)) {
      case 0:
        return c && Condition(depth - 1);
      case 1:
        return c || Condition(depth - 1);
      default:
        return Not(c);
    }
  }

 private:
  int Pick(int n) { return static_cast<int>(rng_() % n); }
  std::mt19937& rng_;
  const std::vector<Var>& vars_;
};

TEST(SimplifyPropertyTest, KeepsTheValueOfIndices) {
  std::mt19937 rng(1);
  const std::vector<Var> vars = {MakeVar("a"), MakeVar("b"), MakeVar("c")};
  for (int round = 0; round < 6000; ++round) {
    Bounds bounds;
    for (const Var& v : vars) {
      const int64_t min = static_cast<int64_t>(rng() % 4) - 1;
      bounds[v.get()] = {min, min + static_cast<int64_t>(rng() % 8)};
    }
    RandomExprs random(rng, vars);
    const bool condition = rng() % 3 == 0;
    const Expr e = condition ? random.Condition(3) : random.Index(4);
    const Expr simple = Simplify(e, bounds);
    Interval range;
    const bool bounded = BoundsOf(e, bounds, &range);
    ASSERT_TRUE(bounded);
    for (int sample = 0; sample < 12; ++sample) {
      Substitution point;
      std::string where;
      for (const Var& v : vars) {
        const Interval b = bounds[v.get()];
        const int64_t value = b.min + static_cast<int64_t>(rng() % (b.max - b.min + 1));
        point[v.get()] = Expr(value);
        where += ToString(v) + "=" + std::to_string(value) + " ";
      }
      int64_t before, after;
      ASSERT_TRUE(AsInt(Substitute(e, point), &before));
      ASSERT_TRUE(AsInt(Substitute(simple, point), &after));
      ASSERT_EQ(before, after) << ToString(e) << "\nbecame " << ToString(simple) << "\nat "
                               << where;
      ASSERT_TRUE(range.min <= before && before <= range.max)
          << ToString(e) << "\nis said to be in " << range.min << "…" << range.max << "\nat "
          << where;
    }
  }
}

TEST(SimplifyPropertyTest, DeepExpressionsDoNotOverflowTheStack) {
  const Buffer x = MakeBuffer("x", DType::Float(32), {20000}, BufferScope::kParam);
  Expr sum = Const(DType::Float(32), 0);
  for (int i = 0; i < 20000; ++i) sum = sum + MakeLoad(x, {Expr(i)});
  EXPECT_EQ(Simplify(sum).type(), Type::Of(DType::Float(32)));
}

}  // namespace
}  // namespace kiln::loop
