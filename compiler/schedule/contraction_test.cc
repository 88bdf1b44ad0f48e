// SPDX-License-Identifier: Apache-2.0
// Sums of products: every tail, every source of columns, and fused epilogues.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/schedule/testing/product.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr double kTolerance = 1e-4;

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

// Multiplies `rows` rows of data by the transpose of 19 rows of int8. Both are converted to the
// dtype of the sums first.
Kernel ProductWithBytes(DType data, DType sums, int64_t rows) {
  const Buffer x = Param("x", data, {rows, 9}), out = Param("out", sums, {rows, 19});
  const loop::Constant w = MakeConstant("w", DType::Int(8), {19, 9});
  return {.name = "f",
          .inputs = {x},
          .outputs = {out},
          .constants = {w},
          .stages = {Reduce(out, {9}, Combine::kSum, [&](const Index& i, const Index& r) {
            return MakeCast(sums, MakeLoad(x, {i[0], r[0]})) *
                   MakeCast(sums, MakeLoad(w.buffer, {i[1], r[0]}));
          })}};
}

TEST(Contraction, WideSumsOfNarrowFactors) {
  const Kernel kernel = ProductWithBytes(DType::Int(8), DType::Int(32), 5);
  for (const Target& target : AllTargets()) {
    EXPECT_TRUE(absl::StartsWith(Schedule(kernel, target).description, "contraction"));
    ExpectLikeNaive(kernel, target);
  }
}

// Weights of int8 are packed as int8, and converted in the tile.
TEST(Contraction, FloatsTimesBytes) {
  for (const int64_t rows : {1, 5}) {
    const Kernel kernel = ProductWithBytes(kF32, kF32, rows);
    for (const Target& target : AllTargets()) {
      const Scheduled scheduled = Schedule(kernel, target);
      EXPECT_TRUE(absl::StartsWith(scheduled.description, "contraction"));
      ASSERT_EQ(scheduled.constants.size(), 1u);
      EXPECT_EQ(scheduled.constants[0].buffer->dtype, DType::Int(8));
      ExpectLikeNaive(kernel, target, kTolerance);
    }
  }
}

TEST(Contraction, SaysItsTile) {
  // 14 registers hold 6 rows of 2 vectors and the columns. 7 rows make two tiles of 4 and 3 rows.
  EXPECT_EQ(Schedule(Product(7, 64, 64, Columns::kConstant), VectorTarget(256)).description,
            "contraction 4x2x8 rows outside packed");
  EXPECT_EQ(Schedule(Product(6, 8, 64, Columns::kInput), VectorTarget(256)).description,
            "contraction 6x2x8 rows outside");
  EXPECT_EQ(Schedule(Product(1, 8, 64, Columns::kConstant), VectorTarget(512)).description,
            "contraction 1x4x16 rows outside packed");
  EXPECT_EQ(Schedule(Product(7, 8, 64, Columns::kConstant), VectorTarget(0)).description,
            "contraction 2x2x1 rows outside packed");
  // Columns larger than half of the L2 cache are read once.
  EXPECT_EQ(Schedule(Product(7, 512, 512, Columns::kConstant), VectorTarget(256)).description,
            "contraction 7x1x8 columns outside packed");
  // If a multiply-add takes a broadcast from memory, a tile of one column vector loads an operand
  // for every multiply-add. Wider tiles leave a register to columns of the next step.
  EXPECT_EQ(Schedule(Product(56, 64, 64, Columns::kConstant), VectorTarget(512)).description,
            "contraction 6x4x16 rows outside packed");
  EXPECT_EQ(Schedule(Product(130, 512, 64, Columns::kConstant), VectorTarget(512)).description,
            "contraction 13x2x16 rows outside packed");
  // Constants are not in the L2 cache. They are read once if they are larger than the rows.
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
  // Contiguous columns are read in place.
  EXPECT_EQ(Schedule(Product(12, 20, 35, Columns::kInput), VectorTarget(256)).func.workspace,
            nullptr);
}

// A copy of the columns is worth its time if many rows of sums read it, or if the sums are short.
TEST(Contraction, ComputedColumnsOfFewRowsAreReduced) {
  const auto description = [](Columns columns, int64_t rows, int64_t steps) {
    return Schedule(Product(rows, steps, 40, columns), VectorTarget(512)).description;
  };
  for (const int64_t rows : {1, 2, 8}) {
    EXPECT_EQ(description(Columns::kInputTransposed, rows, 64), "reduction") << rows;
  }
  const auto is_contraction = [&](Columns columns, int64_t rows, int64_t steps) {
    return absl::StartsWith(description(columns, rows, steps), "contraction");
  };
  EXPECT_TRUE(is_contraction(Columns::kInputTransposed, 9, 512));
  EXPECT_TRUE(is_contraction(Columns::kInputTransposed, 8, 63));
  EXPECT_TRUE(is_contraction(Columns::kInput, 1, 64));
  EXPECT_TRUE(is_contraction(Columns::kConstantTransposed, 1, 64));
}

// Rows that begin in one cache line do not evict each other.
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

// The index into a table depends on the sums, which are not known when a tile begins.
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
  // A tile of 6x4 has 24 accumulators: four steps are 96 of at most 112 multiply-adds.
  const auto loops = [](int64_t reduce) {
    return Text(Schedule(Product(56, reduce, 64, Columns::kConstant), VectorTarget(512)));
  };
  EXPECT_TRUE(absl::StrContains(loops(64), "in 0..16 {")) << loops(64);
  // Extents that four does not divide take fewer steps per iteration, or one.
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
  // Uneven numbers of both kinds of tiles in one loop of tasks.
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

// out[m, g, n] = sum over k of x[m, g, k] * w[g, n, k]: a grouped convolution. The loops over rows
// are outside of the groups if the weights of all groups stay in the L2 cache.
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

// A convolution in channels-last layout, followed by a bias, a residual, and an activation.
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

// If a consumer reads a sum at several places, the sums are stored.
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

// A factor that is computed before the products, and read many times, is stored.
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
