// SPDX-License-Identifier: Apache-2.0
// Products of float32 as six products of bfloat16, in registers that hold matrices: the kernels
// that use them, and that no bits are lost.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/schedule/testing/dot_machines.h"
#include "compiler/schedule/testing/product.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr double kTolerance = 1e-4;

Target Machine() {
  return WithFeatures(512, "x86_64-pc-linux-gnu",
                      "+avx512bw,+avx512vl,+avx512bf16,+amx-tile,+amx-bf16");
}

// Replaces the kernel's constant by random numbers from -1 to 1 that use all 24 bits.
Kernel WithRandomConstant(Kernel kernel) {
  loop::Constant& constant = kernel.constants.front();
  std::vector<float> values;
  uint32_t state = 7;
  for (int64_t i = 0; i < constant.buffer->num_elements(); ++i) {
    state = state * 1664525 + 1013904223;
    values.push_back(static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31F);
  }
  constant.tensor = Tensor::From<float>(constant.buffer->shape, kF32, values);
  return kernel;
}

Kernel Random(int64_t m, int64_t k, int64_t n) {
  return WithRandomConstant(Product(m, k, n, Columns::kConstant));
}

std::string DescriptionOf(const Kernel& kernel, const Target& target,
                          const ScheduleOptions& options = {}) {
  return Schedule(kernel, target, options).description;
}

bool IsInParts(const std::string& description) {
  return absl::StrContains(description, " tdpbf16ps of float32");
}

// A convolution of data [15, 15, channels] with a window of `window` rows and columns.
Kernel Convolution(int64_t window, int64_t channels, int64_t outputs) {
  const int64_t side = 15 - window;
  const Buffer x = Param("x", kF32, {15, 15, channels}),
               out = Param("out", kF32, {side, side, outputs});
  const loop::Constant w = MakeSmallConstant("w", {window, window, channels, outputs});
  return {.name = "f",
          .inputs = {x},
          .outputs = {out},
          .constants = {w},
          .stages = {Reduce(out, {window, window, channels}, Combine::kSum,
                            [&](const Index& i, const Index& r) {
                              return MakeLoad(x, {i[0] + r[0], i[1] + r[1], r[2]}) *
                                     MakeLoad(w.buffer, {r[0], r[1], r[2], i[2]});
                            })}};
}

// Returns the largest error of a sum, relative to the sum of the absolute values of its products.
double ErrorOf(const Kernel& kernel, const Target& target) {
  const std::vector<Tensor> values = ValuesOf(kernel, target);
  const Tensor &x = values.front(), &out = values.back(), &w = kernel.constants.front().tensor;
  const int64_t m = x.type().shape[0], k = x.type().shape[1], n = out.type().shape[1];
  double error = 0;
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t column = 0; column < n; ++column) {
      double sum = 0, size = 0;
      for (int64_t i = 0; i < k; ++i) {
        const double product = x.AsDouble(row * k + i) * w.AsDouble(i * n + column);
        sum += product;
        size += std::abs(product);
      }
      error = std::max(error, std::abs(out.AsDouble(row * n + column) - sum) / size);
    }
  }
  return error;
}

size_t Occurrences(absl::string_view text, absl::string_view what) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, what);
  return parts.size() - 1;
}

// Numbers of steps, rows and columns that fill registers, and others.
TEST(FloatParts, LoseNoBits) {
  for (const auto& [m, k, n] : {std::tuple{64, 256, 256}, {70, 300, 290}}) {
    SCOPED_TRACE(absl::StrCat(m, "x", k, "x", n));
    const Kernel kernel = Random(m, k, n);
    ASSERT_TRUE(IsInParts(DescriptionOf(kernel, Machine()))) << DescriptionOf(kernel, Machine());
    const double in_parts = ErrorOf(kernel, Machine()),
                 of_vectors = ErrorOf(kernel, VectorTarget(512));
    EXPECT_LE(in_parts, of_vectors);
    EXPECT_LE(in_parts, 0x1p-23);
    // Factors that are rounded to bfloat16 do lose bits.
    const std::vector<Tensor> exact = ValuesOf(kernel, Machine()),
                              rounded = ValuesOf(kernel, Machine(), {.bfloat16_products = true});
    double difference = 0;
    for (int64_t i = 0; i < exact.back().type().num_elements(); ++i) {
      difference =
          std::max(difference, std::abs(exact.back().AsDouble(i) - rounded.back().AsDouble(i)));
    }
    EXPECT_GE(difference, 1e-4);
  }
}

// Six products of three parts of each factor, in one statement.
TEST(FloatParts, AreOneDot) {
  const Scheduled scheduled = Schedule(Random(64, 256, 256), Machine());
  const std::string text = Text(scheduled);
  EXPECT_TRUE(absl::StrContains(text, "dot<tdpbf16ps, 32, column_run 2, parts 3>")) << text;
  ASSERT_EQ(scheduled.constants.size(), 1);
  EXPECT_EQ(scheduled.constants[0].buffer->num_bytes(), 256 * 256 * 6);
}

TEST(FloatParts, AreMadeWhereTheyPay) {
  const auto in_parts = [](int64_t m, int64_t k, int64_t n, const ScheduleOptions& options = {}) {
    return IsInParts(DescriptionOf(Random(m, k, n), Machine(), options));
  };
  EXPECT_TRUE(in_parts(64, 256, 256));
  EXPECT_FALSE(in_parts(8, 256, 256)) << "memory says how fast columns are read";
  EXPECT_FALSE(in_parts(1, 256, 256));
  EXPECT_FALSE(in_parts(256, 256, 32)) << "rows are split for few columns";
  EXPECT_FALSE(in_parts(64, 256, 256, {.optimize = Optimize::kSize}));
  EXPECT_FALSE(IsInParts(DescriptionOf(Convolution(2, 256, 256), Machine())))
      << "windows would be split once for each of their elements";
  EXPECT_FALSE(IsInParts(DescriptionOf(Random(64, 256, 256), VectorTarget(512))));
  EXPECT_FALSE(IsInParts(DescriptionOf(Product(64, 256, 256, Columns::kInput), Machine())))
      << "two factors that are computed";
  Target other = Machine();
  other.vector_bits = 256;
  EXPECT_FALSE(IsInParts(DescriptionOf(Random(64, 256, 256), other)));
  other = Machine();
  other.by_c_compiler = true;
  EXPECT_FALSE(IsInParts(DescriptionOf(Random(64, 256, 256), other)))
      << "C compilers split no floats by vectors";
}

// Rows and columns of a picture are merged into one axis, and all of its rows are split once.
TEST(FloatParts, RowsOfPicturesAreOneAxis) {
  Kernel kernel = Convolution(1, 256, 300);
  EXPECT_FALSE(IsInParts(DescriptionOf(kernel, Machine())))
      << "rows lie apart, so that columns would be read for each tile of them";
  const Buffer x = Param("x", kF32, {14, 14, 256});
  kernel.inputs = {x};
  kernel.stages = {
      Reduce(kernel.outputs[0], {256}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeLoad(x, {i[0], i[1], r[0]}) *
               MakeLoad(kernel.constants[0].buffer, {0, 0, r[0], i[2]});
      })};
  EXPECT_TRUE(absl::EndsWith(DescriptionOf(kernel, Machine()), "tdpbf16ps of float32 stored rows"))
      << DescriptionOf(kernel, Machine());
  ExpectLikeNaive(kernel, Machine(), kTolerance);
}

// If the L2 cache does not keep the rows of all steps, all columns are multiplied by one part of
// the steps before the next part.
TEST(FloatParts, LongReductionsAreDivided) {
  Target target = Machine();
  target.l2_bytes = 256 << 10;
  for (const auto& [m, k, n] : {std::tuple{64, 1024, 96}, {70, 1024, 100}}) {
    const Kernel kernel = WithRandomConstant(Product(m, k, n, Columns::kConstant, kF32, Relu));
    const Scheduled scheduled = Schedule(kernel, target);
    const std::string text = Text(scheduled);
    EXPECT_TRUE(IsInParts(scheduled.description)) << scheduled.description;
    EXPECT_TRUE(absl::StrContains(scheduled.description, " parts tdp")) << scheduled.description;
    // The last part has separate code after the other parts, and so does a smaller last block of
    // rows.
    EXPECT_EQ(Occurrences(text, "for block"), m == 64 ? 2 : 2 * 2) << text;
    ExpectLikeNaive(kernel, target, kTolerance);
  }
  // The partial sums would take more than twice the L2 cache.
  EXPECT_FALSE(absl::StrContains(DescriptionOf(Random(64, 1024, 2100), target), " parts "));
  // Threads share the rows that are split, and the blocks of a part. There are two blocks of rows,
  // in two parts.
  target.cores = 4;
  const Kernel kernel = Random(70, 1024, 300);
  const std::string text = Text(Schedule(kernel, target));
  EXPECT_EQ(Occurrences(text, "parallel "), 1 + 2 * 2) << text;
  ExpectLikeNaive(kernel, target, kTolerance);
}

// Splitting an infinite number gives NaN.
TEST(FloatParts, InfiniteFactorsGiveNoNumbers) {
  Kernel kernel = Random(64, 256, 256);
  std::vector<float> values;
  for (int64_t i = 0; i < kernel.constants[0].buffer->num_elements(); ++i) {
    values.push_back(static_cast<float>(kernel.constants[0].tensor.AsDouble(i)));
  }
  values[3] = std::numeric_limits<float>::infinity();  // in column 3
  kernel.constants[0].tensor = Tensor::From<float>(kernel.constants[0].buffer->shape, kF32, values);
  const std::vector<Tensor> found = ValuesOf(kernel, Machine());
  for (int64_t column = 0; column < 256; ++column) {
    EXPECT_EQ(std::isnan(found.back().AsDouble(column)), column == 3) << column;
  }
}

}  // namespace
}  // namespace kiln::schedule
