// SPDX-License-Identifier: Apache-2.0
// Attention: two products with a softmax of rows between them.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/loop/math.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr double kTolerance = 1e-5;

struct Sizes {
  int64_t heads, rows, keys, width;
  bool keys_by_row = false;   // (heads, keys, width) instead of (heads, width, keys)
  bool heads_inside = false;  // the output is (rows, heads, width)
  bool masked = false;        // the bias is (rows, keys) instead of (keys)
};

// softmax(query · key + bias) · value, head by head.
Kernel Attention(const Sizes& n) {
  const Shape of_scores = {n.heads, n.rows, n.keys}, of_rows = {n.heads, n.rows};
  const Buffer query = Param("query", kF32, {n.heads, n.rows, n.width});
  const Buffer key =
      Param("key", kF32,
            n.keys_by_row ? Shape{n.heads, n.keys, n.width} : Shape{n.heads, n.width, n.keys});
  const Buffer value = Param("value", kF32, {n.heads, n.keys, n.width});
  const Buffer bias = Param("bias", kF32, n.masked ? Shape{n.rows, n.keys} : Shape{n.keys});
  const Buffer out =
      Param("out", kF32,
            n.heads_inside ? Shape{n.rows, n.heads, n.width} : Shape{n.heads, n.rows, n.width});
  const Buffer product = Workspace("product", kF32, of_scores);
  const Buffer score = Workspace("score", kF32, of_scores), max = Workspace("max", kF32, of_rows);
  const Buffer exp = Workspace("exp", kF32, of_scores), sum = Workspace("sum", kF32, of_rows);
  const Buffer share = Workspace("share", kF32, of_scores);
  const Buffer context =
      n.heads_inside ? Workspace("context", kF32, {n.heads, n.rows, n.width}) : out;
  Kernel kernel{.name = "f",
                .inputs = {query, key, value, bias},
                .outputs = {out},
                .constants = {},
                .stages = {}};
  kernel.stages.push_back(
      Reduce(product, {n.width}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeLoad(query, {i[0], i[1], r[0]}) *
               MakeLoad(key, n.keys_by_row ? Index{i[0], i[2], r[0]} : Index{i[0], r[0], i[2]});
      }));
  // The products are large numbers here, so they are scaled down.
  kernel.stages.push_back(Pointwise(score, [&](const Index& i) {
    return MakeLoad(product, i) * loop::Const(loop::Type::Of(kF32), 1e-4) +
           MakeLoad(bias, n.masked ? Index{i[1], i[2]} : Index{i[2]});
  }));
  kernel.stages.push_back(Reduce(max, {n.keys}, Combine::kMax, [&](const Index& i, const Index& r) {
    return MakeLoad(score, {i[0], i[1], r[0]});
  }));
  kernel.stages.push_back(Pointwise(exp, [&](const Index& i) {
    return loop::Exp(MakeLoad(score, i) - MakeLoad(max, {i[0], i[1]}));
  }));
  kernel.stages.push_back(Reduce(sum, {n.keys}, Combine::kSum, [&](const Index& i, const Index& r) {
    return MakeLoad(exp, {i[0], i[1], r[0]});
  }));
  kernel.stages.push_back(Pointwise(
      share, [&](const Index& i) { return MakeLoad(exp, i) / MakeLoad(sum, {i[0], i[1]}); }));
  kernel.stages.push_back(
      Reduce(context, {n.keys}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeLoad(share, {i[0], i[1], r[0]}) * MakeLoad(value, {i[0], r[0], i[2]});
      }));
  if (n.heads_inside) {
    kernel.stages.push_back(
        Pointwise(out, [&](const Index& i) { return MakeLoad(context, {i[1], i[0], i[2]}); }));
  }
  return kernel;
}

Target Firmware() {
  Target target = VectorTarget(0);
  target.short_of_memory = true;
  target.has_caches = false;
  return target;
}

int64_t WorkspaceBytes(const Scheduled& scheduled) {
  return scheduled.func.workspace == nullptr ? 0 : scheduled.func.workspace->num_bytes();
}

TEST(SharedRows, EverySizeAndOrder) {
  std::vector<Target> targets = AllTargets();
  targets.push_back(VectorTarget(256, 4));
  targets.push_back(Firmware());
  for (const Target& target : targets) {
    for (const Sizes& sizes :
         {Sizes{2, 40, 33, 16}, Sizes{3, 1, 17, 8}, Sizes{1, 7, 64, 32, true},
          Sizes{2, 37, 20, 16, false, true}, Sizes{2, 9, 40, 8, true, true}, Sizes{1, 20, 1500, 16},
          Sizes{2, 40, 67, 20}, Sizes{2, 35, 67, 20, true, true}, Sizes{1, 16, 31, 5},
          Sizes{1, 37, 45, 12, true, false, true}, Sizes{2, 4, 70, 64, true}}) {
      SCOPED_TRACE(testing::Message() << target.vector_bits << " bits, " << sizes.rows << " x "
                                      << sizes.keys << " x " << sizes.width);
      ExpectLikeNaive(Attention(sizes), target, kTolerance);
    }
  }
}

TEST(SharedRows, KeepsNoScoresInMemory) {
  const Scheduled scheduled = Schedule(Attention({2, 64, 128, 32}), VectorTarget(512));
  EXPECT_EQ(WorkspaceBytes(scheduled), 0) << Text(scheduled);
  // 64 rows of 128 numbers take 32 KiB, and the numbers of each row a little more, which makes two
  // blocks. All data between the two products share one buffer.
  EXPECT_TRUE(absl::StartsWith(scheduled.description, "rows 32, contraction "))
      << scheduled.description;
  const std::string text = Text(scheduled);
  EXPECT_TRUE(absl::StrContains(text, "float32[32, 128]")) << text;
  for (const char* gone : {"allocate score", "allocate exp", "allocate share"}) {
    EXPECT_FALSE(absl::StrContains(text, gone)) << text;
  }
}

// Rows of 67 numbers fill four vectors and need two more for the rest, and products of 20 columns
// need two. If each lane has a row of its own, all lanes are used. 40 rows are 3 vectors, and the
// last one begins before the second ends.
TEST(SharedRows, RowsInLanes) {
  const Scheduled scheduled = Schedule(Attention({2, 40, 67, 20}), VectorTarget(512));
  EXPECT_TRUE(absl::StartsWith(scheduled.description, "rows 32 in lanes, contraction "))
      << scheduled.description;
  const std::string text = Text(scheduled);
  for (const char* found : {"query_columns: float32[2, 20, 40]", "float32[67, 32]",
                            "float32[67, 16]", "out_sums: float32[20, 32]"}) {
    EXPECT_TRUE(absl::StrContains(text, found)) << found << "\n" << text;
  }
  // The last block begins at row 24.
  EXPECT_TRUE(absl::StrContains(text, "lane + 24")) << text;
  EXPECT_EQ(WorkspaceBytes(scheduled), 2 * 20 * 40 * 4);
}

TEST(SharedRows, LanesGoAlongRows) {
  for (const Sizes& sizes :
       {Sizes{2, 64, 64, 32},                         // no lane would be empty
        Sizes{2, 15, 67, 20},                         // too few rows
        Sizes{2, 40, 67, 20, false, false, true}}) {  // the mask is contiguous along the keys
    const Scheduled scheduled = Schedule(Attention(sizes), VectorTarget(512));
    EXPECT_TRUE(absl::StartsWith(scheduled.description, "rows ")) << scheduled.description;
    EXPECT_FALSE(absl::StrContains(scheduled.description, "in lanes")) << scheduled.description;
  }
  const Scheduled scalar = Schedule(Attention({2, 40, 67, 20}), VectorTarget(0));
  EXPECT_FALSE(absl::StrContains(scalar.description, "in lanes")) << scalar.description;
}

TEST(SharedRows, CopiesColumnsThatAreApart) {
  const Scheduled scheduled = Schedule(Attention({2, 64, 128, 32, true}), VectorTarget(512));
  EXPECT_TRUE(absl::StrContains(Text(scheduled), "key_columns")) << Text(scheduled);
  EXPECT_EQ(WorkspaceBytes(scheduled), 2 * 128 * 32 * 4);
}

// In the attention of one token, few queries read a cache of keys and values.
TEST(SharedRows, CopiesNoCacheForFewRows) {
  for (const int64_t rows : {1, 4}) {
    const Scheduled scheduled = Schedule(Attention({2, rows, 512, 64, true}), VectorTarget(256));
    EXPECT_FALSE(absl::StrContains(Text(scheduled), "key_columns")) << Text(scheduled);
    // The products and their exponentials, and a few numbers for each row.
    EXPECT_LE(WorkspaceBytes(scheduled), 2 * 2 * rows * (512 + 32) * 4) << Text(scheduled);
  }
}

TEST(SharedRows, SharesBlocksAmongThreads) {
  const Scheduled scheduled = Schedule(Attention({1, 256, 256, 32}), VectorTarget(512, 4));
  EXPECT_TRUE(absl::StrContains(Text(scheduled), "for task in 0..8 parallel")) << Text(scheduled);
  // There is no parallel loop inside of it.
  EXPECT_EQ(Text(scheduled).find(" parallel"), Text(scheduled).rfind(" parallel"));
}

TEST(SharedRows, FirmwareKeepsFourRows) {
  const Scheduled scheduled = Schedule(Attention({2, 64, 128, 32}), Firmware());
  EXPECT_TRUE(absl::StartsWith(scheduled.description, "rows 4, ")) << scheduled.description;
  // Four rows of scores, and two numbers for each row.
  EXPECT_GE(WorkspaceBytes(scheduled), 4 * 128 * 4);
  EXPECT_LE(WorkspaceBytes(scheduled), 4 * 128 * 4 + 128) << Text(scheduled);
}

// Eight rows of 64 Ki scores do not fit on a stack.
TEST(SharedRows, RowsThatAreTooLongAreStored) {
  const Scheduled scheduled = Schedule(Attention({1, 8, 1 << 16, 4}), VectorTarget(128));
  EXPECT_FALSE(absl::StartsWith(scheduled.description, "rows ")) << scheduled.description;
  EXPECT_GE(WorkspaceBytes(scheduled), 8 * (1 << 16) * 4);
}

}  // namespace
}  // namespace kiln::schedule
