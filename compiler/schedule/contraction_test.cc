// SPDX-License-Identifier: Apache-2.0
// Sums of products: every tail, every way to read the columns, and what is fused behind them.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr double kTolerance = 1e-4;

// Where the column factor comes from.
enum class Columns {
  kConstant,            // [k, n]
  kConstantTransposed,  // [n, k]: as nn.dense has it
  kInput,
  kInputTransposed,
};

// out[m, n] = sum over k of x[m, k] * y[k, n], with whatever `epilogue` makes of the sums.
Kernel Product(int64_t m, int64_t k, int64_t n, Columns columns, DType dtype = kF32,
               Expr (*epilogue)(Expr) = nullptr) {
  const bool transposed =
      columns == Columns::kConstantTransposed || columns == Columns::kInputTransposed;
  const bool constant = columns == Columns::kConstant || columns == Columns::kConstantTransposed;
  const Shape shape = transposed ? Shape{n, k} : Shape{k, n};
  const Buffer x = Param("x", dtype, {m, k}), out = Param("out", dtype, {m, n});
  const Buffer sum = epilogue == nullptr ? out : Workspace("sum", dtype, {m, n});
  const loop::Constant weights = MakeConstant("w", dtype, shape);
  const Buffer y = constant ? weights.buffer : Param("y", dtype, shape);
  Kernel kernel{.name = "f", .inputs = {x}, .outputs = {out}, .constants = {}, .stages = {}};
  if (constant) {
    kernel.constants = {weights};
  } else {
    kernel.inputs.push_back(y);
  }
  kernel.stages.push_back(Reduce(sum, {k}, Combine::kSum, [&](const Index& i, const Index& r) {
    return MakeLoad(x, {i[0], r[0]}) *
           MakeLoad(y, transposed ? Index{i[1], r[0]} : Index{r[0], i[1]});
  }));
  if (epilogue != nullptr) {
    kernel.stages.push_back(
        Pointwise(out, [&](const Index& i) { return epilogue(MakeLoad(sum, i)); }));
  }
  return kernel;
}

Expr Relu(Expr x) { return loop::Max(x, loop::Const(x.type(), 0)); }

TEST(Contraction, EveryTailOfRowsAndColumns) {
  for (const Target& target : AllTargets()) {
    for (int64_t m : {1, 2, 3, 5, 7, 13}) {
      for (int64_t n : {1, 3, 4, 5, 8, 15, 16, 17, 33}) {
        SCOPED_TRACE(testing::Message() << target.vector_bits << " bits, " << m << "x" << n);
        ExpectLikeNaive(Product(m, 3, n, Columns::kConstant), target, kTolerance);
      }
    }
  }
}

TEST(Contraction, EverySourceOfColumns) {
  for (const Target& target : AllTargets()) {
    for (Columns columns : {Columns::kConstant, Columns::kConstantTransposed, Columns::kInput,
                            Columns::kInputTransposed}) {
      for (int64_t n : {8, 19}) {
        ExpectLikeNaive(Product(5, 7, n, columns, kF32, Relu), target, kTolerance);
      }
    }
  }
}

TEST(Contraction, IntegersAreExact) {
  for (const Target& target : AllTargets()) {
    ExpectLikeNaive(Product(5, 9, 19, Columns::kConstantTransposed, DType::Int(32), Relu), target);
    ExpectLikeNaive(Product(5, 9, 19, Columns::kInputTransposed, DType::Int(8)), target);
  }
}

TEST(Contraction, WideSumsOfNarrowFactors) {
  const Buffer x = Param("x", DType::Int(8), {5, 9}), out = Param("out", DType::Int(32), {5, 19});
  const loop::Constant w = MakeConstant("w", DType::Int(8), {19, 9});
  const DType wide = DType::Int(32);
  const Kernel kernel = {
      .name = "f",
      .inputs = {x},
      .outputs = {out},
      .constants = {w},
      .stages = {Reduce(out, {9}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeCast(wide, MakeLoad(x, {i[0], r[0]})) *
               MakeCast(wide, MakeLoad(w.buffer, {i[1], r[0]}));
      })}};
  for (const Target& target : AllTargets()) {
    EXPECT_TRUE(absl::StartsWith(Schedule(kernel, target).description, "contraction"));
    ExpectLikeNaive(kernel, target);
  }
}

TEST(Contraction, SaysItsTile) {
  // 14 registers hold 6 rows of 2 vectors and the columns; 7 rows make two tiles of 4 and 3.
  EXPECT_EQ(Schedule(Product(7, 64, 64, Columns::kConstant), VectorTarget(256)).description,
            "contraction 4x2x8 rows outside packed");
  EXPECT_EQ(Schedule(Product(6, 8, 64, Columns::kInput), VectorTarget(256)).description,
            "contraction 6x2x8 rows outside");
  EXPECT_EQ(Schedule(Product(1, 8, 64, Columns::kConstant), VectorTarget(512)).description,
            "contraction 1x4x16 rows outside packed");
  EXPECT_EQ(Schedule(Product(7, 8, 64, Columns::kConstant), VectorTarget(0)).description,
            "contraction 2x2x1 rows outside packed");
  // Columns beyond half of the second cache are walked once.
  EXPECT_EQ(Schedule(Product(7, 512, 512, Columns::kConstant), VectorTarget(256)).description,
            "contraction 7x1x8 columns outside packed");
  // Where a multiply-add takes a broadcast from memory, a tile of one column vector has an operand to
  // load for every multiply-add; wider ones leave a register to columns of the next step.
  EXPECT_EQ(Schedule(Product(56, 64, 64, Columns::kConstant), VectorTarget(512)).description,
            "contraction 6x4x16 rows outside packed");
  EXPECT_EQ(Schedule(Product(130, 512, 64, Columns::kConstant), VectorTarget(512)).description,
            "contraction 13x2x16 rows outside packed");
  // Constants come from beyond the L2 cache: they are read once where they are more than the rows.
  EXPECT_EQ(Schedule(Product(60, 512, 64, Columns::kConstant), VectorTarget(512)).description,
            "contraction 6x4x16 columns outside packed in 2 parts");
  EXPECT_EQ(Schedule(Product(56, 64, 16, Columns::kConstant), VectorTarget(512)).description,
            "contraction 28x1x16 rows outside packed");
}

TEST(Contraction, PacksConstantsByBlocksOfColumns) {
  const Scheduled scheduled =
      Schedule(Product(12, 20, 35, Columns::kConstantTransposed), VectorTarget(256));
  ASSERT_EQ(scheduled.constants.size(), 1u);
  const loop::Constant& packed = scheduled.constants[0];
  EXPECT_EQ(packed.buffer->name, "w_packed");
  EXPECT_EQ(packed.buffer->shape, (Shape{3, 20, 16}));
  for (int64_t block = 0; block < 3; ++block) {
    for (int64_t k = 0; k < 20; ++k) {
      for (int64_t column = 0; column < 16; ++column) {
        const int64_t n = block * 16 + column;
        const double expected = n < 35 ? 1 + 0.5 * static_cast<double>(n * 20 + k) : 0;
        EXPECT_EQ(packed.tensor.AsDouble((block * 20 + k) * 16 + column), expected);
      }
    }
  }
}

TEST(Contraction, PacksComputedColumnsInScratch) {
  const Scheduled scheduled =
      Schedule(Product(12, 20, 35, Columns::kInputTransposed), VectorTarget(256));
  ASSERT_NE(scheduled.func.workspace, nullptr);
  EXPECT_EQ(scheduled.func.workspace->num_bytes(), 3 * 20 * 16 * 4);
  EXPECT_TRUE(absl::StrContains(Text(scheduled), "allocate y_packed: float32[3, 20, 16]"));
  // Those that are contiguous are read where they are.
  EXPECT_EQ(Schedule(Product(12, 20, 35, Columns::kInput), VectorTarget(256)).func.workspace,
            nullptr);
}

// One row of sums would be multiplied with a copy that is read once.
TEST(Contraction, ComputedColumnsOfOneRowAreReduced) {
  const auto description = [](Columns columns, int64_t rows) {
    return Schedule(Product(rows, 64, 40, columns), VectorTarget(512)).description;
  };
  EXPECT_EQ(description(Columns::kInputTransposed, 1), "reduction");
  EXPECT_TRUE(absl::StartsWith(description(Columns::kInputTransposed, 2), "contraction"));
  EXPECT_TRUE(absl::StartsWith(description(Columns::kInput, 1), "contraction"));
  EXPECT_TRUE(absl::StartsWith(description(Columns::kConstantTransposed, 1), "contraction"));
}

// Rows that begin in one cache line do not drive each other out.
TEST(Contraction, RowsOfOneLineMakeOneTile) {
  const Buffer x = Param("x", kF32, {300, 20}), y = Param("y", kF32, {300, 16});
  const Buffer out = Param("out", kF32, {20, 16});
  const Kernel kernel{
      .name = "f",
      .inputs = {x, y},
      .outputs = {out},
      .constants = {},
      .stages = {Reduce(out, {300}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeLoad(x, {r[0], i[0]}) * MakeLoad(y, {r[0], i[1]});
      })}};
  EXPECT_TRUE(
      absl::StartsWith(Schedule(kernel, VectorTarget(512)).description, "contraction 20x1x16"));
}

TEST(Contraction, EpiloguesWorkOnTheAccumulators) {
  const Scheduled scheduled =
      Schedule(Product(6, 2, 16, Columns::kConstant, kF32, Relu), VectorTarget(256));
  EXPECT_EQ(scheduled.func.workspace, nullptr);
  EXPECT_TRUE(absl::StrContains(Text(scheduled), "max(acc["));
  EXPECT_FALSE(absl::StrContains(Text(scheduled), "sum["));
}

TEST(Contraction, UsesFusedMultiplyAddWhereTheMachineHasIt) {
  const Kernel floats = Product(6, 2, 16, Columns::kConstant);
  const Kernel ints = Product(6, 2, 16, Columns::kConstant, DType::Int(32));
  EXPECT_TRUE(absl::StrContains(Text(Schedule(floats, VectorTarget(256))), "fma("));
  EXPECT_FALSE(absl::StrContains(Text(Schedule(floats, VectorTarget(128))), "fma("));
  EXPECT_FALSE(absl::StrContains(Text(Schedule(ints, VectorTarget(256))), "fma("));
}

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

// Columns are prefetched 8 KiB ahead where one or two tiles read more of them than the L1 cache
// keeps. A tile of one or two rows loads ahead by itself.
TEST(Contraction, PrefetchesColumns) {
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

// Columns that come from beyond the L2 cache: while one block is read, the next one is prefetched.
TEST(Contraction, AsksForTheNextBlock) {
  const Kernel large = Product(49, 1024, 128, Columns::kConstant);
  const Scheduled scheduled = Schedule(large, VectorTarget(512));
  EXPECT_TRUE(absl::StrContains(scheduled.description, "columns outside"));
  EXPECT_TRUE(AsksSecondCacheFor(scheduled, "w_packed")) << Text(scheduled);
  ExpectLikeNaive(large, VectorTarget(512), kTolerance);
  // Not fewer columns than rows, which are read again and again.
  const Scheduled small = Schedule(Product(196, 128, 128, Columns::kConstant), VectorTarget(512));
  EXPECT_FALSE(AsksSecondCacheFor(small, "w_packed")) << Text(small);
}

// All tiles that read a block together ask for each line of the next one once, but for rounding.
TEST(Contraction, AsksForEachLineOnce) {
  Target target = VectorTarget(512);
  target.l2_bytes = 2 << 20;
  const auto lines = [&](int64_t rows) {
    const Scheduled scheduled = Schedule(Product(rows, 768, 480, Columns::kConstant), target);
    std::vector<std::string> found;
    for (absl::string_view line : absl::StrSplit(Text(scheduled), '\n')) {
      if (absl::EndsWith(line, "to cache 2")) {
        found.emplace_back(line.substr(line.find("r0")));
      }
    }
    return found;
  };
  // Of 48 columns: 2304 lines in 8 tiles of 192 iterations.
  EXPECT_EQ(lines(64), (std::vector<std::string>{"r0 * 3 / 2 * 16 + 36864] to cache 2",
                                                 "r0 * 3 / 2 * 16 + 36880] to cache 2"}));
  EXPECT_EQ(lines(256), std::vector<std::string>{"r0 * 3 / 8 * 16 + 36864] to cache 2"});
}

// A block of so many columns that the L2 cache does not keep it beside the next one and the rows is
// read in parts, by all tiles of rows in turn.
TEST(Contraction, DividesLongReductions) {
  Target target = VectorTarget(512);
  target.l2_bytes = 1 << 20;
  const auto described = [&](const Kernel& kernel) {
    return std::string(Schedule(kernel, target).description);
  };
  const Kernel large = Product(64, 3072, 96, Columns::kConstant, kF32, Relu);
  const Scheduled scheduled = Schedule(large, target);
  EXPECT_TRUE(absl::StrContains(scheduled.description, " in 6 parts")) << scheduled.description;
  const std::string text = Text(scheduled);
  EXPECT_TRUE(absl::StrContains(text, "allocate partial: float32[64, 48]")) << text;
  EXPECT_TRUE(absl::StrContains(text, "for part in 0..5")) << text;
  // The next part is asked for as the next block is.
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

// While a tile of rows is multiplied with block after block, the next rows are asked for.
TEST(Contraction, AsksForTheNextRows) {
  const Kernel many = Product(196, 16, 48, Columns::kConstant);
  const Scheduled scheduled = Schedule(many, VectorTarget(512));
  EXPECT_TRUE(absl::StrContains(Text(scheduled), "prefetch x[")) << Text(scheduled);
  ExpectLikeNaive(many, VectorTarget(512), kTolerance);
  // Not where one tile holds all rows, nor on firmware, which has no cache.
  const Scheduled one = Schedule(Product(1, 16, 48, Columns::kConstant), VectorTarget(512));
  EXPECT_FALSE(absl::StrContains(Text(one), "prefetch x["));
  Target firmware = VectorTarget(128);
  firmware.SetBaremetal();
  EXPECT_FALSE(absl::StrContains(Text(Schedule(many, firmware)), "prefetch"));
}

// What is added to the sums is asked for before they are computed, but not what all rows share.
TEST(Contraction, AsksForWhatEpiloguesRead) {
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

// Where a table is read depends on the sums, which are not there when a tile begins.
TEST(Contraction, LooksUpItsSums) {
  const DType wide = DType::Int(32);
  const Buffer x = Param("x", DType::Int(8), {28, 64}), out = Param("out", DType::Int(8), {28, 35});
  const Buffer residual = Param("residual", DType::Int(8), {28, 35});
  const Buffer sum = Workspace("sum", wide, {28, 35});
  const loop::Constant w = MakeConstant("w", DType::Int(8), {35, 64});
  const loop::Constant table = MakeConstant("table", DType::Int(8), {256});
  const loop::Constant by_row = MakeConstant("by_row", DType::Int(8), {28, 256});
  const auto place = [&](const Index& i) {
    const Expr clipped = loop::Min(loop::Max(MakeLoad(sum, i), Expr(-128)), Expr(127));
    return loop::ToIndex(clipped + Expr(128));
  };
  const Kernel kernel = {
      .name = "f",
      .inputs = {x, residual},
      .outputs = {out},
      .constants = {w, table, by_row},
      .stages = {Reduce(sum, {64}, Combine::kSum,
                        [&](const Index& i, const Index& r) {
                          return MakeCast(wide, MakeLoad(x, {i[0], r[0]})) *
                                 MakeCast(wide, MakeLoad(w.buffer, {i[1], r[0]}));
                        }),
                 Pointwise(out, [&](const Index& i) {
                   return MakeLoad(table.buffer, {place(i)}) +
                          MakeLoad(by_row.buffer, {i[0], place(i)}) + MakeLoad(residual, i);
                 })}};
  for (const Target& target : AllTargets()) {
    const std::string text = Text(Schedule(kernel, target));
    EXPECT_TRUE(absl::StrContains(text, "prefetch residual[")) << text;
    EXPECT_FALSE(absl::StrContains(text, "prefetch table[")) << text;
    EXPECT_FALSE(absl::StrContains(text, "prefetch by_row[")) << text;
    ExpectLikeNaive(kernel, target);
  }
}

TEST(Contraction, SeveralStepsToAnIteration) {
  // 28 accumulators: four steps are 112 multiply-adds.
  const auto loops = [](int64_t reduce) {
    return Text(Schedule(Product(56, reduce, 64, Columns::kConstant), VectorTarget(512)));
  };
  EXPECT_TRUE(absl::StrContains(loops(64), "in 0..16 {")) << loops(64);
  // What does not divide evenly takes fewer, or one.
  EXPECT_TRUE(absl::StrContains(loops(66), "in 0..22 {")) << loops(66);
  EXPECT_TRUE(absl::StrContains(loops(67), "in 0..67 {")) << loops(67);
  for (int64_t reduce : {3, 5, 8, 9}) {
    for (const Target& target : AllTargets()) {
      ExpectLikeNaive(Product(29, reduce, 33, Columns::kConstant), target, kTolerance);
    }
  }
}

TEST(Contraction, SharesItsTilesAmongThreads) {
  const Kernel kernel = Product(64, 256, 512, Columns::kConstant);
  EXPECT_TRUE(absl::StrContains(Text(Schedule(kernel, VectorTarget(256, 8))), " parallel {"));
  EXPECT_FALSE(absl::StrContains(Text(Schedule(kernel, VectorTarget(256))), "parallel"));
  // Uneven counts of both tiles in one loop of tasks.
  for (Columns columns : {Columns::kConstant, Columns::kInput}) {
    ExpectLikeNaive(Product(37, 64, 83, columns, kF32, Relu), VectorTarget(256, 8), kTolerance);
  }
}

// out[b, m, n] = sum over k of x[b, m, k] * y[b, n, k].
TEST(Contraction, InBatches) {
  const Buffer x = Param("x", kF32, {3, 5, 7}), y = Param("y", kF32, {3, 9, 7});
  const Buffer out = Param("out", kF32, {3, 5, 9});
  const Kernel kernel = {
      .name = "f",
      .inputs = {x, y},
      .outputs = {out},
      .constants = {},
      .stages = {Reduce(out, {7}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeLoad(x, {i[0], i[1], r[0]}) * MakeLoad(y, {i[0], i[2], r[0]});
      })}};
  for (const Target& target : AllTargets()) {
    EXPECT_TRUE(absl::StartsWith(Schedule(kernel, target).description, "contraction"));
    ExpectLikeNaive(kernel, target, kTolerance);
  }
}

// out[m, g, n] = sum over k of x[m, g, k] * w[g, n, k]: a grouped convolution. Rows are outside of
// groups whose weights all stay in the second cache.
TEST(Contraction, RowsAreOutsideOfGroups) {
  const auto rows_first = [](int64_t groups, const Target& target) {
    const Buffer x = Param("x", kF32, {60, groups, 16}), out = Param("out", kF32, {60, groups, 16});
    const loop::Constant w = MakeSmallConstant("w", {groups, 16, 16});
    const Kernel kernel = {
        .name = "f",
        .inputs = {x},
        .outputs = {out},
        .constants = {w},
        .stages = {Reduce(out, {16}, Combine::kSum, [&](const Index& i, const Index& r) {
          return MakeLoad(x, {i[0], i[1], r[0]}) * MakeLoad(w.buffer, {i[1], i[2], r[0]});
        })}};
    ExpectLikeNaive(kernel, target, kTolerance);
    const std::string text = Text(Schedule(kernel, target));
    const size_t row = text.find("for row_tile"), group = text.find(absl::StrCat("0..", groups));
    EXPECT_NE(row, std::string::npos) << text;
    EXPECT_NE(group, std::string::npos) << text;
    return row < group;
  };
  EXPECT_TRUE(rows_first(5, VectorTarget(512)));
  Target small = VectorTarget(512);
  small.l2_bytes = 4096;
  EXPECT_FALSE(rows_first(5, small));
}

// A convolution in channels-last layout with a bias, a residual, and an activation behind it.
Kernel Convolution(int64_t size, int64_t in, int64_t out_channels, bool stored_too) {
  const Buffer x = Param("x", kF32, {size + 2, size + 2, in});
  const Buffer residual = Param("residual", kF32, {size, size, out_channels});
  const loop::Constant w = MakeConstant("w", kF32, {out_channels, in, 3, 3});
  const loop::Constant bias = MakeConstant("bias", kF32, {out_channels});
  const Shape shape = {size, size, out_channels};
  const Buffer sum = stored_too ? Param("sum", kF32, shape) : Workspace("sum", kF32, shape);
  const Buffer out = Param("out", kF32, shape);
  Kernel kernel{
      .name = "f", .inputs = {x, residual}, .outputs = {out}, .constants = {w, bias}, .stages = {}};
  if (stored_too) kernel.outputs.push_back(sum);
  kernel.stages.push_back(
      Reduce(sum, {in, 3, 3}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeLoad(x, {i[0] + r[1], i[1] + r[2], r[0]}) *
               MakeLoad(w.buffer, {i[2], r[0], r[1], r[2]});
      }));
  kernel.stages.push_back(Pointwise(out, [&](const Index& i) {
    return Relu(MakeLoad(sum, i) + MakeLoad(bias.buffer, {i[2]}) + MakeLoad(residual, i));
  }));
  return kernel;
}

TEST(Contraction, ConvolutionsAreOne) {
  for (const Target& target : AllTargets()) {
    for (bool stored_too : {false, true}) {
      const Kernel kernel = Convolution(5, 3, 11, stored_too);
      EXPECT_TRUE(absl::StartsWith(Schedule(kernel, target).description, "contraction"));
      ExpectLikeNaive(kernel, target, 1e-3);
    }
  }
}

TEST(Contraction, TilesOfSeveralRowsOfRows) {
  const Kernel kernel = Convolution(9, 3, 15, false);
  EXPECT_TRUE(
      absl::StartsWith(Schedule(kernel, VectorTarget(512)).description, "contraction 3x9x1x16"));
  ExpectLikeNaive(kernel, VectorTarget(512), 1e-3);
  ExpectLikeNaive(kernel, VectorTarget(512, 8), 1e-3);
}

TEST(Contraction, EpiloguesMayMoveTheSums) {
  Kernel kernel = Product(5, 3, 9, Columns::kConstant, kF32, Relu);
  const Buffer sum = kernel.stages[0].buffer, out = Param("out", kF32, {9, 5});
  kernel.outputs = {out};
  kernel.stages[1] =
      Pointwise(out, [&](const Index& i) { return Relu(MakeLoad(sum, {i[1], i[0]})); });
  EXPECT_FALSE(absl::StrContains(Text(Schedule(kernel, VectorTarget(256))), "allocate sum"));
  for (const Target& target : AllTargets()) ExpectLikeNaive(kernel, target, kTolerance);
}

// A consumer that reads a sum at several places needs them stored.
TEST(Contraction, StoresSumsThatAreReadElsewhere) {
  Kernel kernel = Product(5, 3, 9, Columns::kConstant, kF32, Relu);
  const Buffer sum = kernel.stages[0].buffer;
  kernel.stages[1] = Pointwise(kernel.outputs[0], [&](const Index& i) {
    return MakeLoad(sum, i) - MakeLoad(sum, {i[0], Expr(0)});
  });
  EXPECT_TRUE(absl::StrContains(Text(Schedule(kernel, VectorTarget(256))),
                                "allocate sum: float32[5, 9] workspace"));
  for (const Target& target : AllTargets()) ExpectLikeNaive(kernel, target, kTolerance);
}

// What is computed before the products, and is read by them many times.
TEST(Contraction, StoresFactorsThatAreComputed) {
  const Buffer in = Param("in", kF32, {5, 7}), x = Workspace("x", kF32, {5, 7});
  const Buffer out = Param("out", kF32, {5, 9});
  const loop::Constant w = MakeConstant("w", kF32, {7, 9});
  const Kernel kernel = {
      .name = "f",
      .inputs = {in},
      .outputs = {out},
      .constants = {w},
      .stages = {Pointwise(x, [&](const Index& i) { return Relu(MakeLoad(in, i)); }),
                 Reduce(out, {7}, Combine::kSum, [&](const Index& i, const Index& r) {
                   return MakeLoad(x, {i[0], r[0]}) * MakeLoad(w.buffer, {r[0], i[1]});
                 })}};
  const Scheduled scheduled = Schedule(kernel, VectorTarget(256));
  EXPECT_TRUE(absl::StartsWith(scheduled.description, "contraction")) << scheduled.description;
  EXPECT_TRUE(absl::StrContains(Text(scheduled), "allocate x: float32[5, 7] workspace"));
  for (const Target& target : AllTargets()) ExpectLikeNaive(kernel, target, kTolerance);
}

}  // namespace
}  // namespace kiln::schedule
