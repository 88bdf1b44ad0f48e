// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/partition.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

constexpr DType kFloat = DType::Float(32);

class PartitionTest : public ::testing::Test {
 protected:
  // x[at], or 0 outside of [0, 100).
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
  // All values of k are in range: 2 i - 20 >= 0 and 2 i - 18 < 100. None is: 2 i - 18 < 0 or 2 i -
  // 20 >= 100.
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
  // Eight rows of fifty columns in one parallel loop, with three taps and padding of one column.
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

// A nest with guards next to one without. Only the first is copied.
TEST_F(PartitionTest, NestsWithoutGuardsStayOne) {
  const Buffer rows = MakeBuffer("rows", kFloat, {3}, BufferScope::kLocal);
  const Var b = MakeVar("b");
  const Stmt copy = MakeFor(k, 0, 3, ForKind::kSerial, MakeStore(rows, {k}, Padded(i + k - 1)));
  const Stmt use =
      MakeFor(b, 0, 2, ForKind::kSerial, MakeStore(y, {i * 2 + b}, MakeLoad(rows, {b})));
  const Stmt s = MakeAllocate(rows, MakeFor(i, 0, 100, ForKind::kSerial, MakeBlock({copy, use})));
  EXPECT_EQ(ToString(PartitionLoops(s, {.narrow_below = PartitionLimits::kAlways})),
            "allocate rows: float32[3] {\n"
            "  for i in 0..100 {\n"
            "    if i >= 1 && i < 99 {\n"
            "      for k in 0..3 {\n"
            "        rows[k] = x[i + k - 1]\n"
            "      }\n"
            "    } else {\n"
            "      for k in 0..3 {\n"
            "        let t0 = i + k\n"
            "        rows[k] = select(t0 >= 1 && t0 < 101, x[max(min(t0 - 1, 99), 0)], 0f32)\n"
            "      }\n"
            "    }\n"
            "    for b in 0..2 {\n"
            "      y[i * 2 + b] = rows[b]\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// Copies rows of two elements and uses them. The rows before and after the data are padding.
class RowsTest : public PartitionTest {
 protected:
  std::string Partitioned(const PartitionLimits& limits) {
    const Buffer rows = MakeBuffer("rows", kFloat, {6}, BufferScope::kLocal);
    const Var r = MakeVar("r"), e = MakeVar("e"), b = MakeVar("b");
    const Expr row = i + r - 1;
    const Expr element = MakeSelect(row >= 0 && row < 50,
                                    MakeLoad(x, {Max(Min(row, 49), 0) * 2 + e}), Const(kFloat, 0));
    const Stmt copy =
        MakeFor(r, 0, 3, ForKind::kUnrolled,
                MakeFor(e, 0, 2, ForKind::kVectorized, MakeStore(rows, {r * 2 + e}, element)));
    const Stmt use =
        MakeFor(b, 0, 4, ForKind::kSerial, MakeStore(y, {i * 4 + b}, MakeLoad(rows, {b})));
    return ToString(PartitionLoops(
        MakeAllocate(rows, MakeFor(i, 0, 50, ForKind::kSerial, MakeBlock({copy, use}))), limits));
  }

  static constexpr char kRolled[] =
      "      for r in 0..3 {\n"
      "        let t1 = i + r\n"
      "        if t1 >= 1 && t1 < 51 {\n"
      "          for e in 0..2 vectorized {\n"
      "            rows[r * 2 + e] = x[max(min(r + i - 1, 49), 0) * 2 + e]\n"
      "          }\n"
      "        } else {\n"
      "          for e in 0..2 vectorized {\n"
      "            rows[r * 2 + e] = 0f32\n"
      "          }\n"
      "        }\n"
      "      }\n";
};

TEST_F(RowsTest, BordersAreRolledAndTestARowOnce) {
  const std::string text =
      Partitioned({.narrow_below = PartitionLimits::kAlways, .rolls_borders = true});
  EXPECT_NE(text.find(absl::StrCat("    } else {\n", kRolled, "    }\n")), std::string::npos)
      << text;
  EXPECT_NE(text.find("    if i >= 1 && i < 49 {\n      for r in 0..3 unrolled {\n"),
            std::string::npos)
      << text;
}

// Only rows are padded: their loop has a test, and columns are written out in both cases.
TEST_F(RowsTest, LoopsWithoutGuardsAreUnrolledInBorders) {
  const Buffer rows = MakeBuffer("rows", kFloat, {12}, BufferScope::kLocal);
  const Var j = MakeVar("j"), r = MakeVar("r"), c = MakeVar("c"), e = MakeVar("e"),
            b = MakeVar("b");
  const Expr row = i + r - 1, column = j + c - 1;
  const Expr within = row >= 0 && row < 8 && column >= 0 && column < 6;
  const Expr at = Max(Min(row, 7), 0) * 12 + Max(Min(column, 5), 0) * 2 + e;
  const Stmt copy =
      MakeFor(r, 0, 3, ForKind::kUnrolled,
              MakeFor(c, 0, 3, ForKind::kUnrolled,
                      MakeFor(e, 0, 2, ForKind::kVectorized,
                              MakeStore(rows, {r * 4 + c + e},
                                        MakeSelect(within, MakeLoad(x, {at}), Const(kFloat, 0))))));
  const Stmt use =
      MakeFor(b, 0, 4, ForKind::kSerial, MakeStore(y, {i * 4 + j + b}, MakeLoad(rows, {b})));
  const Stmt body = MakeFor(j, 0, 6, ForKind::kSerial, MakeBlock({copy, use}));
  const std::string text =
      ToString(PartitionLoops(MakeAllocate(rows, MakeFor(i, 0, 8, ForKind::kSerial, body)),
                              {.narrow_below = PartitionLimits::kAlways, .rolls_borders = true}));
  const auto count = [&](absl::string_view part) {
    const std::vector<std::string> pieces = absl::StrSplit(text, part);
    return pieces.size() - 1;
  };
  EXPECT_EQ(count("if i >= 1 && i < 7 {\n"), 1) << text;
  // Each row of pixels has an interior and the remaining columns.
  EXPECT_EQ(count("if j >= 1 && j < 5 {\n"), 2) << text;
  EXPECT_EQ(count("for r in 0..3 unrolled {\n"), 1) << text;
  EXPECT_EQ(count("if t1 >= 1 && t1 < 9 {\n              for c in 0..3 unrolled {\n"), 1) << text;
  EXPECT_EQ(count("for c in 0..3 {\n"), 2) << text;
  EXPECT_EQ(count("for b in 0..4 {\n"), 1) << text;
}

TEST_F(RowsTest, LoopsThatMayNotGrowAreBordersEverywhere) {
  const std::string text = Partitioned({.max_growth = 1,
                                        .small_code = 0,
                                        .narrow_below = PartitionLimits::kAlways,
                                        .rolls_borders = true});
  EXPECT_EQ(text.find("unrolled"), std::string::npos) << text;
  EXPECT_NE(text.find("      if t0 >= 1 && t0 < 51 {\n"), std::string::npos) << text;
}

// The comparisons, minima and maxima of 3 rows are evaluated in 2 of 50 iterations.
TEST_F(RowsTest, LoopsAreSplitWhereGuardsAreMuchOfTheWork) {
  const auto copies = [&](double narrow_below) {
    const std::string text = Partitioned({.narrow_below = narrow_below, .rolls_borders = true});
    size_t count = 0;
    for (size_t at = text.find("for b"); at != text.npos; at = text.find("for b", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(copies(PartitionLimits::kAlways), 1);
  EXPECT_EQ(copies(1.0 / 16), 1);
  EXPECT_EQ(copies(1.0 / 4096), 2);
  EXPECT_EQ(copies(0), 2);
}

TEST_F(PartitionTest, NothingIsCopiedWhereCodeMayNotGrow) {
  const Stmt s = MakeFor(i, 0, 102, ForKind::kSerial, MakeStore(y, {i}, Padded(i - 1)));
  EXPECT_EQ(ToString(PartitionLoops(s, {.max_growth = 1, .small_code = 0})),
            "for i in 0..102 {\n"
            "  y[i] = select(i >= 1 && i < 101, x[max(min(i - 1, 99), 0)], 0f32)\n"
            "}\n");
}

}  // namespace
}  // namespace kiln::loop
