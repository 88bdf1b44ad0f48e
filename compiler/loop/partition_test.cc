// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

constexpr DType kFloat = DType::Float(32);

class PartitionTest : public ::testing::Test {
 protected:
  // x[i + shift], or 0 outside of [0, 100).
  Expr Padded(const Expr& at) {
    return MakeSelect(at >= 0 && at < 100, MakeLoad(x, {Max(Min(at, 99), 0)}), Const(kFloat, 0));
  }
  std::string Partitioned(ForKind kind, const Expr& extent, const Expr& value) {
    return ToString(PartitionLoops(MakeFor(i, 0, extent, kind, MakeStore(y, {i}, value))));
  }

  const Var i = MakeVar("i");
  const Var k = MakeVar("k");
  const Buffer x = MakeBuffer("x", kFloat, {100}, BufferScope::kParam);
  const Buffer y = MakeBuffer("y", kFloat, {200}, BufferScope::kParam);
};

TEST_F(PartitionTest, WideBordersAreLoopsOfTheirOwn) {
  EXPECT_EQ(Partitioned(ForKind::kVectorized, 140, Padded(i - 20)),
            "for i in 0..20 vectorized {\n"
            "  y[i] = 0f32\n"
            "}\n"
            "for i_1 in 20..120 vectorized {\n"
            "  y[i_1] = x[i_1 - 20]\n"
            "}\n"
            "for i_2 in 120..140 vectorized {\n"
            "  y[i_2] = 0f32\n"
            "}\n");
}

TEST_F(PartitionTest, NarrowBordersShareACopy) {
  EXPECT_EQ(Partitioned(ForKind::kSerial, 102, Padded(i - 1)),
            "for i in 0..102 {\n"
            "  if i >= 1 && i < 101 {\n"
            "    y[i] = x[i - 1]\n"
            "  } else {\n"
            "    y[i] = select(i >= 1 && i < 101, x[max(min(i - 1, 99), 0)], 0f32)\n"
            "  }\n"
            "}\n");
}

TEST_F(PartitionTest, AParallelLoopStaysOneLoop) {
  EXPECT_EQ(Partitioned(ForKind::kParallel, 140, Padded(i - 20)),
            "for i in 0..140 parallel {\n"
            "  if i < 20 {\n"
            "    y[i] = 0f32\n"
            "  } else {\n"
            "    if i < 120 {\n"
            "      y[i] = x[i - 20]\n"
            "    } else {\n"
            "      y[i] = 0f32\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST_F(PartitionTest, ConcatenationLosesItsSelect) {
  const Buffer other = MakeBuffer("other", kFloat, {100}, BufferScope::kParam);
  const Expr value =
      MakeSelect(i < 30, MakeLoad(x, {Min(i, 29)}), MakeLoad(other, {Max(i - 30, 0)}));
  EXPECT_EQ(Partitioned(ForKind::kVectorized, 100, value),
            "for i in 0..30 vectorized {\n"
            "  y[i] = x[i]\n"
            "}\n"
            "for i_1 in 30..100 vectorized {\n"
            "  y[i_1] = other[i_1 - 30]\n"
            "}\n");
}

TEST_F(PartitionTest, TheRangesOfInnerLoopsCount) {
  const Stmt body = MakeFor(k, 0, 3, ForKind::kSerial,
                            MakeStore(y, {i}, MakeLoad(y, {i}) + Padded(i * 2 + k - 20)));
  const std::string text = ToString(PartitionLoops(MakeFor(i, 0, 70, ForKind::kVectorized, body)));
  // All of k in range: 2 i - 20 >= 0, 2 i - 18 < 100. None: 2 i - 18 < 0, 2 i - 20 >= 100.
  for (const char* loop : {"0..9", "10..59", "60..70"}) {
    EXPECT_NE(text.find(std::string(" in ") + loop + " vectorized"), std::string::npos) << text;
  }
}

TEST_F(PartitionTest, GivesUpWhereNothingIsWon) {
  const std::string cyclic = Partitioned(ForKind::kSerial, 90, MakeLoad(x, {i % 7}));
  EXPECT_EQ(cyclic, "for i in 0..90 {\n  y[i] = x[i % 7]\n}\n");
  // Not linear in i.
  const std::string square = Partitioned(ForKind::kSerial, 90, Padded(i * i - 3));
  EXPECT_EQ(square.find("for", 1), std::string::npos) << square;
}

TEST_F(PartitionTest, RowsAndColumnsOfAFusedLoop) {
  // Eight rows of fifty columns in one parallel loop, three taps, padded by one column.
  const Buffer sums = MakeBuffer("sums", kFloat, {400}, BufferScope::kParam);
  const Expr row = i / 50, column = i % 50;
  const Expr at = column + k - 1;
  const Expr tap = MakeSelect(at >= 0 && at < 50, MakeLoad(x, {row * 10 + Max(Min(at, 49), 0)}),
                              Const(kFloat, 0));
  const Stmt body =
      MakeFor(k, 0, 3, ForKind::kSerial, MakeStore(sums, {i}, MakeLoad(sums, {i}) + tap));
  const std::string text = ToString(PartitionLoops(MakeFor(i, 0, 400, ForKind::kParallel, body)));
  const std::string start =
      "for i in 0..400 parallel {\n"
      "  let t0 = i % 50\n"
      "  if t0 >= 1 && t0 < 49 {\n";
  EXPECT_EQ(text.substr(0, start.size()), start) << text;
  const std::string interior = text.substr(0, text.find("} else {"));
  EXPECT_EQ(interior.find("select"), std::string::npos) << text;
  EXPECT_EQ(interior.find("min("), std::string::npos) << text;
}

TEST_F(PartitionTest, GrowthIsBounded) {
  // Guards of eight inner loops: all pieces of all of them would be thousands of copies.
  Expr sum = Const(kFloat, 0);
  std::vector<Var> vars;
  for (int d = 0; d < 8; ++d) {
    vars.push_back(MakeVar("v" + std::to_string(d)));
    sum = sum + Padded(vars[d] * 30 - 25 + (d > 0 ? vars[d - 1] : vars[0]));
  }
  Stmt s = MakeStore(y, {0}, sum);
  for (const Var& v : vars) s = MakeFor(v, 0, 5, ForKind::kSerial, s);
  const size_t before = ToString(Simplify(s)).size();
  EXPECT_LT(ToString(PartitionLoops(s)).size(), before * 16);
}

}  // namespace
}  // namespace kiln::loop
