// SPDX-License-Identifier: Apache-2.0
// Sums of products in registers that hold matrices: which contractions take them, and that they are those
// of plain loops.
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

// No sign is changed: there is an instruction for each pair of them.
TEST(DotMatrices, BytesOfAnySigns) {
  for (const auto& [of_x, weights, name] : {std::tuple{kI8, Weights{kI8, -128, 127}, "tdpbssd"},
                                            {kU8, Weights{kI8, -128, 127}, "tdpbusd"},
                                            {kI8, Weights{kU8, 0, 255}, "tdpbsud"},
                                            {kU8, Weights{kU8, 0, 255}, "tdpbuud"},
                                            {kI8, Weights{kI16, -128, 127}, "tdpbssd"}}) {
    // Whole steps and registers, and ends of all three.
    for (const auto& [m, k, n] :
         {std::tuple{64, 128, 64}, {70, 100, 50}, {17, 64, 16}, {49, 200, 80}}) {
      SCOPED_TRACE(absl::StrCat(name, ": ", m, "x", k, "x", n));
      const Kernel kernel = Dense(m, k, n, of_x, weights);
      const std::string description = DescriptionOf(kernel);
      EXPECT_TRUE(absl::EndsWith(description, absl::StrCat(" ", name, " copied rows")))
          << description;
      EXPECT_TRUE(absl::StrContains(Text(Schedule(kernel, Machine())),
                                    absl::StrCat("dot<", name, ", 64, ")));
      ExpectLikeNaive(kernel, Machine());
    }
  }
}

// Vectors take less where most of a register would be empty, and what has to be shifted.
TEST(DotMatrices, OthersStayVectors) {
  const Weights bytes = {kI8, -128, 127};
  for (const auto& [m, k, n] :
       {std::tuple{1, 1024, 1024}, {2, 64, 64}, {64, 8, 64}, {64, 128, 8}}) {
    SCOPED_TRACE(absl::StrCat(m, "x", k, "x", n));
    EXPECT_TRUE(absl::StrContains(DescriptionOf(Dense(m, k, n, kU8, bytes)), "vpdpbusd"));
  }
  for (const Weights& weights : {Weights{kI16, -148, 107}, Weights{kI16, 3, 300}}) {
    const std::string description = DescriptionOf(Dense(64, 128, 64, kU8, weights));
    EXPECT_FALSE(absl::StrContains(description, "tdp")) << description;
  }
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

// The lanes of a value are limited, and so are the steps of a statement.
TEST(DotMatrices, LongReductionsAreDivided) {
  const Kernel kernel = Dense(33, 4700, 32, kI8, {kI8, -128, 127});
  const std::string text = Text(Schedule(kernel, Machine()));
  EXPECT_TRUE(absl::StrContains(text, "for part in 0..3")) << text;
  EXPECT_TRUE(absl::StrContains(text, "steps 25")) << text;
  ExpectLikeNaive(kernel, Machine());
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
  // Rows that are copied element by element.
  const std::string first = DescriptionOf(
      Convolution({.height = 32, .width = 32, .channels = 3, .outputs = 64}, kI8, bytes));
  EXPECT_FALSE(absl::StrContains(first, "tdp")) << first;
}

// Rows of a picture that are shorter than a register's share it.
TEST(DotMatrices, ShortRowsShareATile) {
  const Kernel kernel = Convolution({.height = 14, .width = 14, .channels = 64, .outputs = 64}, kI8,
                                    {kI8, -128, 127});
  const std::string description = DescriptionOf(kernel);
  EXPECT_TRUE(absl::StrContains(description, "contraction 2x14x2x16 ")) << description;
}

}  // namespace
}  // namespace kiln::schedule
