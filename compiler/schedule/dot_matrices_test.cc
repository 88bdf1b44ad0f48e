// SPDX-License-Identifier: Apache-2.0
// Sums of products in registers that hold matrices: the contractions that use them, and a
// comparison with plain loops.
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/schedule/testing/dot_kernels.h"
#include "compiler/schedule/testing/dot_machines.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

Target Machine() {
  return WithFeatures(512, "x86_64-pc-linux-gnu",
                      "+avx512bw,+avx512vl,+avx512vnni,+amx-tile,+amx-int8,+amx-bf16");
}

std::string DescriptionOf(const Kernel& kernel) { return Schedule(kernel, Machine()).description; }

// There is an instruction for each pair of signs, so no sign is changed.
TEST(DotMatrices, BytesOfAnySigns) {
  for (const auto& [of_x, weights, name] : {std::tuple{kI8, Weights{kI8, -128, 127}, "tdpbssd"},
                                            {kU8, Weights{kI8, -128, 127}, "tdpbusd"},
                                            {kI8, Weights{kU8, 0, 255}, "tdpbsud"},
                                            {kU8, Weights{kU8, 0, 255}, "tdpbuud"},
                                            {kI8, Weights{kI16, -128, 127}, "tdpbssd"}}) {
    // Whole steps and registers, and tails of all three extents.
    for (const auto& [m, k, n] :
         {std::tuple{64, 128, 64}, {70, 100, 50}, {17, 192, 16}, {49, 200, 80}}) {
      SCOPED_TRACE(absl::StrCat(name, ": ", m, "x", k, "x", n));
      const Kernel kernel = Dense(m, k, n, of_x, weights);
      const std::string description = DescriptionOf(kernel);
      EXPECT_TRUE(absl::StrContains(description, absl::StrCat(" ", name, " "))) << description;
      EXPECT_TRUE(absl::StrContains(Text(Schedule(kernel, Machine())),
                                    absl::StrCat("dot<", name, ", 64, ")));
      ExpectLikeNaive(kernel, Machine());
    }
  }
}

// Weights of 8 bits around another center: the sum of each row is multiplied by their shift.
TEST(DotMatrices, ShiftedWeights) {
  for (const DType of_x : {kI8, kU8}) {
    for (const auto& [m, k, n] : {std::tuple{70, 100, 50}, {49, 200, 80}, {40, 64, 100}}) {
      SCOPED_TRACE(absl::StrCat(of_x.ToString(), ": ", m, "x", k, "x", n));
      const Kernel kernel = Dense(m, k, n, of_x, {kI16, -148, 107});
      const std::string description = DescriptionOf(kernel);
      EXPECT_TRUE(absl::StrContains(description, of_x == kI8 ? " tdpbs" : " tdpbu")) << description;
      ExpectLikeNaive(kernel, Machine());
    }
  }
  const Kernel kernel = Convolution({.height = 14, .width = 14, .channels = 64, .outputs = 64}, kU8,
                                    {kI16, -148, 107});
  EXPECT_TRUE(absl::StrContains(DescriptionOf(kernel), " tdpbu")) << DescriptionOf(kernel);
  ExpectLikeNaive(kernel, Machine());
}

// Vectors are used if most of a register would be empty, if weights need more than 8 bits, or if
// the target's vectors are narrower.
TEST(DotMatrices, OthersStayVectors) {
  const Weights bytes = {kI8, -128, 127};
  for (const auto& [m, k, n] :
       {std::tuple{1, 1024, 1024}, {2, 64, 64}, {64, 8, 64}, {64, 128, 8}}) {
    SCOPED_TRACE(absl::StrCat(m, "x", k, "x", n));
    EXPECT_TRUE(absl::StrContains(DescriptionOf(Dense(m, k, n, kU8, bytes)), "vpdpbusd"));
  }
  const std::string wide = DescriptionOf(Dense(64, 128, 64, kU8, {kI16, 3, 300}));
  EXPECT_FALSE(absl::StrContains(wide, "tdp")) << wide;
  Target narrow = Machine();
  narrow.vector_bits = 256;
  EXPECT_FALSE(
      absl::StrContains(Schedule(Dense(64, 128, 64, kU8, bytes), narrow).description, "tdp"));
}

TEST(DotMatrices, TilesAreTwoRegistersEachWayWhereThereAreAsMany) {
  const Weights bytes = {kI8, -128, 127};
  for (const auto& [m, n, tile] : {std::tuple{64, 64, "32x2x16"},
                                   {64, 16, "32x1x16"},
                                   {64, 48, "32x1x16"},
                                   {64, 96, "32x2x16"},
                                   {20, 64, "20x2x16"}}) {
    const std::string description = DescriptionOf(Dense(m, 256, n, kI8, bytes));
    EXPECT_TRUE(absl::StrContains(description, absl::StrCat("contraction ", tile, " ")))
        << description;
  }
}

// A statement is one step, so that long reductions do not increase the lanes of any value.
TEST(DotMatrices, LongReductions) {
  const Kernel kernel = Dense(33, 4700, 32, kI8, {kI8, -128, 127});
  const std::string text = Text(Schedule(kernel, Machine()));
  EXPECT_TRUE(absl::StrContains(text, "in 0..74")) << text;
  ExpectLikeNaive(kernel, Machine());
}

size_t Occurrences(absl::string_view text, absl::string_view what) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, what);
  return parts.size() - 1;
}

// If there are more columns than rows, all rows are copied first. The tiles of a block of columns
// prefetch each line of the next block once: 64 lines in two tiles of two steps.
TEST(DotMatrices, RowsAreStoredWhereColumnsAreMore) {
  const Weights bytes = {kI8, -128, 127};
  const Kernel kernel = Dense(64, 128, 256, kI8, bytes);
  const std::string description = DescriptionOf(kernel);
  EXPECT_TRUE(absl::EndsWith(description, "columns outside packed tdpbssd stored rows"))
      << description;
  const std::string text = Text(Schedule(kernel, Machine()));
  EXPECT_EQ(Occurrences(text, "prefetch w_packed"), 64 / (2 * 2)) << text;
  EXPECT_EQ(Occurrences(text, "to cache 2"), 64 / (2 * 2)) << text;
  for (const auto& [m, k, n] :
       {std::tuple{64, 128, 256}, {70, 100, 130}, {33, 64, 65}, {100, 300, 110}}) {
    SCOPED_TRACE(absl::StrCat(m, "x", k, "x", n));
    ExpectLikeNaive(Dense(m, k, n, kU8, bytes), Machine());
  }
  // Few columns stay in the cache, and a single tile copies its own rows.
  EXPECT_TRUE(absl::EndsWith(DescriptionOf(Dense(256, 128, 64, kI8, bytes)),
                             "rows outside packed tdpbssd copied rows"));
  EXPECT_TRUE(absl::EndsWith(DescriptionOf(Dense(32, 128, 64, kI8, bytes)),
                             "rows outside packed tdpbssd copied rows"));
}

// As many rows as stay in half of the L2 cache are multiplied by all columns before the next rows.
TEST(DotMatrices, StoredRowsAreInBlocksThatStayInTheCache) {
  Target target = Machine();
  target.l2_bytes = 64 << 10;
  for (const int64_t rows : {128, 200, 210}) {
    const Kernel kernel = Dense(rows, 512, 256, kI8, {kI8, -128, 127});
    const std::string text = Text(Schedule(kernel, target));
    EXPECT_EQ(Occurrences(text, "for row_block in"), 1) << text;
    ExpectLikeNaive(kernel, target);
  }
  EXPECT_EQ(Occurrences(Text(Schedule(Dense(128, 512, 256, kI8, {kI8, -128, 127}), Machine())),
                        "for row_block in"),
            0);
}

// Threads share the copies, and then the columns. The last kernel has few columns and a smaller
// last block of rows.
TEST(DotMatrices, StoredRowsByThreads) {
  Target target = Machine();
  target.cores = 4;
  const Kernel kernel = Dense(200, 512, 256, kI8, {kI8, -128, 127});
  EXPECT_EQ(Occurrences(Text(Schedule(kernel, target)), "parallel "), 2)
      << Text(Schedule(kernel, target));
  // One thread copies a few rows, before all threads share the columns.
  const Kernel few = Dense(64, 512, 512, kI8, {kI8, -128, 127});
  EXPECT_EQ(Occurrences(Text(Schedule(few, target)), "parallel "), 1)
      << Text(Schedule(few, target));
  ExpectLikeNaive(kernel, target);
  target.l2_bytes = 64 << 10;
  ExpectLikeNaive(Dense(200, 512, 128, kI8, {kI8, -128, 127}), target);
}

TEST(DotMatrices, Convolutions) {
  const Weights bytes = {kI8, -128, 127};
  for (const Conv& c :
       {Conv{.height = 9, .width = 40, .channels = 64, .outputs = 32},
        Conv{.height = 9, .width = 7, .channels = 64, .outputs = 48},
        Conv{.height = 8, .width = 14, .channels = 16, .outputs = 64},
        Conv{.height = 11, .width = 13, .channels = 96, .outputs = 32, .stride = 2},
        Conv{.height = 6, .width = 12, .channels = 128, .outputs = 40, .kernel = 1, .pad = 0}}) {
    for (const DType of_x : {kI8, kU8}) {
      SCOPED_TRACE(absl::StrCat(of_x.ToString(), " ", c.height, "x", c.width, "x", c.channels));
      const Kernel kernel = Convolution(c, of_x, bytes);
      const std::string description = DescriptionOf(kernel);
      EXPECT_TRUE(absl::StrContains(description, of_x == kI8 ? "tdpbssd" : "tdpbusd"))
          << description;
      ExpectLikeNaive(kernel, Machine());
    }
  }
  // Rows that would be copied element by element do not use matrices.
  const std::string first = DescriptionOf(
      Convolution({.height = 32, .width = 32, .channels = 3, .outputs = 64}, kI8, bytes));
  EXPECT_FALSE(absl::StrContains(first, "tdp")) << first;
}

// Short rows of a picture share a tile.
TEST(DotMatrices, ShortRowsShareATile) {
  const Kernel kernel = Convolution({.height = 14, .width = 14, .channels = 64, .outputs = 64}, kI8,
                                    {kI8, -128, 127});
  const std::string description = DescriptionOf(kernel);
  EXPECT_TRUE(absl::StrContains(description, "contraction 2x14x2x16 ")) << description;
}

}  // namespace
}  // namespace kiln::schedule
