// SPDX-License-Identifier: Apache-2.0
// Sums of products whose columns do not stay in a cache: prefetches, and divided reductions.
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/schedule/testing/product.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr double kTolerance = 1e-4;

bool Prefetches(const Scheduled& scheduled, absl::string_view buffer, absl::string_view behind) {
  for (absl::string_view line : absl::StrSplit(Text(scheduled), '\n')) {
    if (absl::StrContains(line, absl::StrCat("prefetch ", buffer, "[")) &&
        absl::EndsWith(line, behind)) {
      return true;
    }
  }
  return false;
}

bool AsksSecondCacheFor(const Scheduled& scheduled, absl::string_view buffer) {
  return Prefetches(scheduled, buffer, " to cache 2");
}

// Columns are prefetched 8 KiB ahead if one or two tiles read more of them than the L1 cache keeps.
// A tile of one or two rows loads ahead without prefetches.
TEST(ContractionMemory, PrefetchesColumns) {
  const auto prefetches = [](int64_t rows, int64_t reduce, int64_t columns) {
    const Kernel product = Product(rows, reduce, columns, Columns::kConstant);
    return Prefetches(Schedule(product, VectorTarget(512)), "w_packed", " + 2048]");
  };
  EXPECT_TRUE(prefetches(4, 256, 256));
  EXPECT_TRUE(prefetches(5, 250, 129));
  EXPECT_FALSE(prefetches(2, 256, 256));
  EXPECT_FALSE(prefetches(4, 32, 64)) << "8 KiB stay in the cache";
  EXPECT_FALSE(prefetches(100, 64, 256)) << "many tiles read blocks of 4 KiB";
  EXPECT_TRUE(prefetches(12, 1024, 64)) << "memory says how fast two tiles read";
  EXPECT_FALSE(prefetches(28, 1024, 64)) << "many tiles read blocks from the L2 cache";
  for (const auto& [rows, reduce, columns] : {std::tuple{5, 250, 129}, {12, 1024, 64}}) {
    ExpectLikeNaive(Product(rows, reduce, columns, Columns::kConstant), VectorTarget(512),
                    kTolerance);
  }
}

// Columns that the L2 cache does not keep: while one block is read, the next one is prefetched.
TEST(ContractionMemory, AsksForTheNextBlock) {
  const Kernel large = Product(49, 1024, 128, Columns::kConstant);
  const Scheduled scheduled = Schedule(large, VectorTarget(512));
  EXPECT_TRUE(absl::StrContains(scheduled.description, "columns outside"));
  EXPECT_TRUE(AsksSecondCacheFor(scheduled, "w_packed")) << Text(scheduled);
  ExpectLikeNaive(large, VectorTarget(512), kTolerance);
  // If there are fewer columns than rows, columns are read repeatedly and not prefetched.
  const Scheduled small = Schedule(Product(196, 128, 128, Columns::kConstant), VectorTarget(512));
  EXPECT_FALSE(AsksSecondCacheFor(small, "w_packed")) << Text(small);
}

// All tiles that read a block together prefetch each line of the next block once, except for
// rounding.
TEST(ContractionMemory, AsksForEachLineOnce) {
  Target target = VectorTarget(512);
  target.l2_bytes = 2 << 20;
  const auto lines = [&](int64_t rows) {
    const Scheduled scheduled = Schedule(Product(rows, 768, 480, Columns::kConstant), target);
    std::vector<std::string> found;
    for (absl::string_view line : absl::StrSplit(Text(scheduled), '\n')) {
      if (absl::EndsWith(line, "to cache 2")) {
        found.emplace_back(line.substr(line.find('[')));
      }
    }
    return found;
  };
  // A block of 48 columns has 2304 lines. 8 tiles of 192 iterations prefetch them in turn from
  // eight places that are 288 lines apart.
  EXPECT_EQ(lines(64),
            (std::vector<std::string>{"[block * 36864 + row_tile * 576 + t0 / 2 % 8 * 4608 + "
                                      "t0 / 16 * 16 + 36864] to cache 2",
                                      "[block * 36864 + row_tile * 576 + t1 % 8 * 4608 + "
                                      "t1 / 8 * 16 + 36864] to cache 2"}));
  EXPECT_EQ(lines(256), std::vector<std::string>{"[block * 36864 + row_tile * 144 + t0 / 8 % 8 * "
                                                 "4608 + t0 / 64 * 16 + 36864] to cache 2"});
}

// If the L2 cache does not keep a block of columns together with the next block and the rows, the
// block is read in parts. All tiles of rows read one part before the next.
TEST(ContractionMemory, DividesLongReductions) {
  Target target = VectorTarget(512);
  target.l2_bytes = 1 << 20;
  const auto described = [&](const Kernel& kernel) {
    return std::string(Schedule(kernel, target).description);
  };
  const Kernel large = Product(64, 3072, 96, Columns::kConstant, kF32, Relu);
  const Scheduled scheduled = Schedule(large, target);
  EXPECT_TRUE(absl::StrContains(scheduled.description, " in 6 parts")) << scheduled.description;
  const std::string text = Text(scheduled);
  EXPECT_TRUE(absl::StrContains(text, "allocate partial: float32[3072]")) << text;
  EXPECT_TRUE(absl::StrContains(text, "for part in 0..5")) << text;
  // The next part is prefetched in the same way as the next block.
  EXPECT_TRUE(AsksSecondCacheFor(scheduled, "w_packed")) << text;
  EXPECT_TRUE(absl::StrContains(text, "+ part * 24576 + ")) << text;
  ExpectLikeNaive(large, target, kTolerance);
  const Kernel uneven = Product(61, 1500, 70, Columns::kConstant);
  EXPECT_TRUE(absl::StrContains(described(uneven), "parts")) << described(uneven);
  ExpectLikeNaive(uneven, target, kTolerance);
  EXPECT_FALSE(absl::StrContains(described(Product(64, 640, 96, Columns::kConstant)), "parts"));
  EXPECT_FALSE(absl::StrContains(described(Product(6, 3072, 96, Columns::kConstant)), "parts"))
      << "one tile has all rows";
  EXPECT_FALSE(absl::StrContains(described(Product(64, 3079, 96, Columns::kConstant)), "parts"))
      << "a prime number of steps";
  EXPECT_FALSE(absl::StrContains(described(Product(4000, 3072, 96, Columns::kConstant)), "parts"))
      << "as many sums as the stack should not hold";
  target.cores = 8;
  EXPECT_FALSE(absl::StrContains(described(large), "parts")) << "2 blocks for 8 threads";
}

// If all rows are in one tile and the L2 cache does not keep the columns, each vector of columns
// has a place of its own.
TEST(ContractionMemory, ReadsVectorsOfColumnsFromSeveralPlaces) {
  Target target = VectorTarget(512);
  target.l2_bytes = 32 << 10;
  for (const int64_t rows : {1, 5}) {
    const Kernel kernel = Product(rows, 200, 90, Columns::kConstant);
    const Scheduled scheduled = Schedule(kernel, target);
    EXPECT_EQ(scheduled.constants[0].buffer->shape, (Shape{6, 200, 16})) << Text(scheduled);
    ExpectLikeNaive(kernel, target, kTolerance);
  }
  const auto last = [&](const Kernel& kernel) {
    return Schedule(kernel, target).constants[0].buffer->shape.back();
  };
  EXPECT_GT(last(Product(40, 200, 90, Columns::kConstant)), 16) << "several tiles";
  target.l2_bytes = 512 << 10;
  EXPECT_GT(last(Product(5, 200, 90, Columns::kConstant)), 16) << "columns that stay";
  // Copies that are made at run time are as wide as a tile.
  target.l2_bytes = 32 << 10;
  ExpectLikeNaive(Product(5, 200, 90, Columns::kInputTransposed), target, kTolerance);
}

// While a tile of rows is multiplied by one block after another, the next rows are prefetched.
TEST(ContractionMemory, AsksForTheNextRows) {
  const Kernel many = Product(196, 16, 48, Columns::kConstant);
  const Scheduled scheduled = Schedule(many, VectorTarget(512));
  EXPECT_TRUE(absl::StrContains(Text(scheduled), "prefetch x[")) << Text(scheduled);
  ExpectLikeNaive(many, VectorTarget(512), kTolerance);
  // Rows are not prefetched if one tile holds all of them, or on firmware, which has no cache.
  const Scheduled one = Schedule(Product(1, 16, 48, Columns::kConstant), VectorTarget(512));
  EXPECT_FALSE(absl::StrContains(Text(one), "prefetch x["));
  Target firmware = VectorTarget(128);
  firmware.SetBaremetal();
  EXPECT_FALSE(absl::StrContains(Text(Schedule(many, firmware)), "prefetch"));
}

// Data that are added to the sums are prefetched before the sums are computed, unless all rows
// share them.
TEST(ContractionMemory, AsksForWhatEpiloguesRead) {
  for (int64_t k : {64, 8}) {
    Kernel kernel = Product(28, k, 35, Columns::kConstant, kF32, Relu);
    const Buffer residual = Param("residual", kF32, {28, 35});
    const loop::Constant bias = MakeConstant("bias", kF32, {35});
    kernel.inputs.push_back(residual);
    kernel.constants.push_back(bias);
    loop::Stage& last = kernel.stages.back();
    last.value =
        last.value + MakeLoad(residual, last.index) + MakeLoad(bias.buffer, {last.index[1]});
    const Scheduled scheduled = Schedule(kernel, VectorTarget(512));
    EXPECT_EQ(absl::StrContains(Text(scheduled), "prefetch residual["), k == 64) << Text(scheduled);
    EXPECT_FALSE(absl::StrContains(Text(scheduled), "prefetch bias["));
    ExpectLikeNaive(kernel, VectorTarget(512), kTolerance);
  }
}

}  // namespace
}  // namespace kiln::schedule
