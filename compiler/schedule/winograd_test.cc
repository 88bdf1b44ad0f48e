// SPDX-License-Identifier: Apache-2.0
// Winograd's filtering: the transforms, and the loops for every tail and epilogue.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "compiler/schedule/winograd_transform.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

// Values are up to about 100, so this is 5e-6 of the largest one: a few times the error of direct
// sums.
constexpr double kTolerance = 5e-4;

// Returns matrix · data · matrixᵀ.
std::vector<double> BothSides(const WinogradMatrix& m, const std::vector<double>& data) {
  std::vector<double> result(static_cast<size_t>(m.rows * m.rows), 0.0);
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.rows; ++j) {
      for (int64_t k = 0; k < m.columns; ++k) {
        for (int64_t l = 0; l < m.columns; ++l) {
          result[static_cast<size_t>(i * m.rows + j)] +=
              m.at(i, k) * data[static_cast<size_t>(k * m.columns + l)] * m.at(j, l);
        }
      }
    }
  }
  return result;
}

TEST(WinogradTransform, IsTheConvolution) {
  for (int64_t outputs : {2, 4}) {
    const WinogradTransform& w = WinogradOf(outputs);
    const int64_t n = w.inputs();
    EXPECT_EQ(n, outputs + 2);
    std::vector<double> d, g;
    for (int64_t i = 0; i < n * n; ++i) d.push_back(SmallValue(i));
    for (int64_t i = 0; i < 9; ++i) g.push_back(SmallValue(3 * i));
    const std::vector<double> inputs = BothSides(w.input, d);
    const std::vector<float> weights = TransformWeights(w, g.data());
    std::vector<double> points;
    for (size_t i = 0; i < inputs.size(); ++i) points.push_back(inputs[i] * weights[i]);
    const std::vector<double> sums = BothSides(w.output, points);
    for (int64_t y = 0; y < outputs; ++y) {
      for (int64_t x = 0; x < outputs; ++x) {
        double expected = 0;
        for (int64_t i = 0; i < 9; ++i) {
          expected +=
              d[static_cast<size_t>((y + i / 3) * n + x + i % 3)] * g[static_cast<size_t>(i)];
        }
        EXPECT_NEAR(sums[static_cast<size_t>(y * outputs + x)], expected, 1e-6)
            << outputs << " at " << y << ", " << x;
      }
    }
  }
}

// out = relu(conv(x) + bias + residual), with `padding` zeros around x.
Kernel Convolution(Shape size, int64_t in, int64_t columns, int64_t padding,
                   bool stored_too = false) {
  const int64_t n = size[0], h = size[1], w = size[2];
  const Buffer x = Param("x", kF32, {n, h + 2 - 2 * padding, w + 2 - 2 * padding, in});
  const Shape shape = {n, h, w, columns};
  const Buffer residual = Param("residual", kF32, shape), out = Param("out", kF32, shape);
  const loop::Constant weights = MakeSmallConstant("w", {columns, in, 3, 3});
  const loop::Constant bias = MakeConstant("bias", kF32, {columns});
  const Buffer sum = stored_too ? Param("sum", kF32, shape) : Workspace("sum", kF32, shape);
  Kernel kernel{.name = "f",
                .inputs = {x, residual},
                .outputs = {out},
                .constants = {weights, bias},
                .stages = {}};
  if (stored_too) kernel.outputs.push_back(sum);
  Buffer data = x;
  if (padding > 0) {
    data = Workspace("pad", kF32, {n, h + 2, w + 2, in});
    kernel.stages.push_back(Pointwise(data, [&](const Index& i) {
      const Expr inside =
          i[1] >= Expr(1) && i[1] < Expr(h + 1) && i[2] >= Expr(1) && i[2] < Expr(w + 1);
      const auto clamp = [](const Expr& e, int64_t extent) {
        return loop::Max(loop::Min(e - Expr(1), Expr(extent - 1)), Expr(0));
      };
      return loop::MakeSelect(inside, MakeLoad(x, {i[0], clamp(i[1], h), clamp(i[2], w), i[3]}),
                              loop::Const(kF32, 0));
    }));
  }
  kernel.stages.push_back(
      Reduce(sum, {3, 3, in}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeLoad(data, {i[0], i[1] + r[0], i[2] + r[1], r[2]}) *
               MakeLoad(weights.buffer, {i[3], r[2], r[0], r[1]});
      }));
  kernel.stages.push_back(Pointwise(out, [&](const Index& i) {
    const Expr value = MakeLoad(sum, i) + MakeLoad(bias.buffer, {i[3]}) + MakeLoad(residual, i);
    return loop::Max(value, loop::Const(kF32, 0));
  }));
  return kernel;
}

bool IsWinograd(const Kernel& kernel, const Target& target) {
  return absl::StartsWith(Schedule(kernel, target).description, "winograd");
}

TEST(Winograd, EveryTailOfTilesAndColumns) {
  for (const Target& target : {VectorTarget(128), VectorTarget(512)}) {
    for (const Shape& size : {Shape{1, 29, 27}, {1, 22, 35}, {2, 17, 22}}) {
      for (int64_t columns : {32, 43}) {
        for (int64_t padding : {0, 1}) {
          SCOPED_TRACE(testing::Message() << target.vector_bits << " bits, " << ShapeToString(size)
                                          << ", " << columns << " columns, padding " << padding);
          const Kernel kernel = Convolution(size, 21, columns, padding);
          EXPECT_TRUE(IsWinograd(kernel, target));
          ExpectLikeNaive(kernel, target, kTolerance);
        }
      }
    }
  }
}

TEST(Winograd, SharesBlocksAmongThreads) {
  const Kernel kernel = Convolution({1, 30, 30}, 32, 32, 1);
  EXPECT_TRUE(absl::StrContains(Text(Schedule(kernel, VectorTarget(256, 3))), " parallel {"));
  ExpectLikeNaive(kernel, VectorTarget(256, 3), kTolerance);
}

// If an image is one block, threads share its tiles, and then the blocks of columns.
TEST(Winograd, SharesColumnsAmongThreads) {
  for (const Shape& size : {Shape{1, 14, 14}, {2, 13, 11}}) {
    for (int64_t columns : {128, 136}) {
      const Kernel kernel = Convolution(size, 64, columns, 1);
      const Target target = VectorTarget(512, 2);
      const Scheduled scheduled = Schedule(kernel, target);
      EXPECT_TRUE(absl::StrContains(scheduled.description, size[0] == 1 ? "49 tiles" : "42 tiles"))
          << scheduled.description;
      const std::vector<std::string> parts = absl::StrSplit(Text(scheduled), " parallel {");
      EXPECT_GE(parts.size(), 3u) << Text(scheduled);
      EXPECT_TRUE(absl::StrContains(Text(scheduled), "to cache 2"));
      ExpectLikeNaive(kernel, target, kTolerance);
    }
  }
}

TEST(Winograd, StoresSumsThatAreOutputsToo) {
  const Kernel kernel = Convolution({1, 32, 32}, 16, 16, 1, /*stored_too=*/true);
  EXPECT_TRUE(IsWinograd(kernel, VectorTarget(256)));
  ExpectLikeNaive(kernel, VectorTarget(256), kTolerance);
}

TEST(Winograd, CanBeSwitchedOff) {
  const Kernel kernel = Convolution({1, 30, 30}, 32, 32, 1);
  const Target target = VectorTarget(256);
  EXPECT_TRUE(IsWinograd(kernel, target));
  const absl::StatusOr<Scheduled> direct = ScheduleKernel(kernel, target, {.winograd = false});
  ASSERT_TRUE(direct.ok()) << direct.status();
  EXPECT_TRUE(absl::StartsWith(direct->description, "contraction")) << direct->description;
}

// Winograd's filtering is not used for few channels or few outputs. It is not used for little work,
// because weights and scratch memory would grow, nor for firmware, which has no room.
TEST(Winograd, OnlyWhereItIsFaster) {
  EXPECT_FALSE(IsWinograd(Convolution({1, 28, 28}, 8, 64, 1), VectorTarget(256)));
  EXPECT_FALSE(IsWinograd(Convolution({1, 28, 28}, 64, 8, 1), VectorTarget(256)));
  EXPECT_FALSE(IsWinograd(Convolution({1, 3, 3}, 256, 256, 1), VectorTarget(256)));
  EXPECT_FALSE(IsWinograd(Convolution({1, 8, 8}, 32, 32, 1), VectorTarget(256)));
  EXPECT_FALSE(IsWinograd(Convolution({1, 30, 30}, 32, 32, 1), VectorTarget(0)));
  Target firmware = VectorTarget(128);
  firmware.SetBaremetal();
  EXPECT_FALSE(IsWinograd(Convolution({1, 30, 30}, 32, 32, 1), firmware));
}

}  // namespace
}  // namespace kiln::schedule
