// SPDX-License-Identifier: Apache-2.0
// Tiles of data that are transposed in registers.
#include "absl/strings/match.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

Kernel KernelOf(std::vector<Buffer> inputs, const Buffer& out, loop::Stage stage) {
  return {.name = "f",
          .inputs = std::move(inputs),
          .outputs = {out},
          .constants = {},
          .stages = {std::move(stage)}};
}

// out[batch, columns, rows] of in[batch, rows, columns].
Kernel Transposed(const Shape& in_shape, DType dtype = kF32) {
  const Buffer in = Param("in", dtype, in_shape);
  const Buffer out = Param("out", dtype, {in_shape[0], in_shape[2], in_shape[1]});
  return KernelOf({in}, out,
                  Pointwise(out, [&](const Index& i) { return MakeLoad(in, {i[0], i[2], i[1]}); }));
}

TEST(Transpose, GivesTheSameBits) {
  for (const Target& target : AllTargets()) {
    for (const DType dtype : {kF32, DType::Float(64), DType::Int(8), DType::Int(16)}) {
      for (int64_t rows : {5, 16, 35}) {
        for (int64_t columns : {6, 32, 85}) {
          SCOPED_TRACE(testing::Message() << target.vector_bits << " bits, " << dtype.ToString()
                                          << ", " << rows << "x" << columns);
          ExpectLikeNaive(Transposed({1, rows, columns}, dtype), target);
          ExpectLikeNaive(Transposed({3, rows, columns}, dtype), target);
        }
      }
    }
  }
}

// Returns the number of occurrences of `part` in `text`.
int Count(absl::string_view text, absl::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Transpose, LoadsVectorsAlongTheData) {
  const Scheduled scheduled = Schedule(Transposed({1, 32, 64}), VectorTarget(512));
  EXPECT_EQ(scheduled.description, "transpose");
  const std::string text = Text(scheduled);
  // Four steps of 8 pairs of vectors.
  EXPECT_EQ(Count(text, "interleave("), 32) << text;
  // 16 vectors of 16 elements, and no single elements.
  EXPECT_EQ(Count(text, "in["), 16) << text;
  EXPECT_EQ(Count(Text(Schedule(Transposed({1, 32, 64}), VectorTarget(256))), "in["), 8);
  EXPECT_EQ(Count(Text(Schedule(Transposed({1, 32, 64}), VectorTarget(128))), "in["), 4);
}

// Tiles of the rest overlap the last whole one.
TEST(Transpose, TilesOfTheRestOverlap) {
  const std::string text = Text(Schedule(Transposed({1, 20, 35}), VectorTarget(512)));
  EXPECT_EQ(Count(text, "interleave("), 4 * 32) << text;
}

TEST(Transpose, ComputesOnTransposedValues) {
  const Buffer in = Param("in", kF32, {40, 24}), more = Param("more", kF32, {24, 40});
  const Buffer row = Param("row", kF32, {24}), out = Param("out", kF32, {24, 40});
  const auto transposed = [&](const Index& i) { return MakeLoad(in, {i[1], i[0]}); };
  for (const Target& target : AllTargets()) {
    ExpectLikeNaive(KernelOf({in, row}, out,
                             Pointwise(out,
                                       [&](const Index& i) {
                                         return loop::Max(transposed(i) + MakeLoad(row, {i[0]}),
                                                          loop::Const(kF32, 0));
                                       })),
                    target);
    ExpectLikeNaive(
        KernelOf({in, more}, out,
                 Pointwise(out, [&](const Index& i) { return transposed(i) * MakeLoad(more, i); })),
        target);
  }
}

// If the output may be written over an input that is not transposed, no element may be computed
// twice.
TEST(Transpose, NothingOverlapsInPlace) {
  const Buffer in = Param("in", kF32, {40, 21}), more = Param("more", kF32, {21, 40});
  const Buffer out = Param("out", kF32, {21, 40});
  const Kernel kernel = KernelOf({in, more}, out, Pointwise(out, [&](const Index& i) {
                                   return MakeLoad(in, {i[1], i[0]}) + MakeLoad(more, i);
                                 }));
  const Scheduled scheduled = Schedule(kernel, VectorTarget(512));
  EXPECT_TRUE(scheduled.func.in_place);
  EXPECT_EQ(scheduled.description, "pointwise");
  ExpectLikeNaive(kernel, VectorTarget(512));
}

// Data that are followed by zeros are read at indices that are not linear.
TEST(Transpose, LeavesPaddingToPlainLoops) {
  const Buffer in = Param("in", kF32, {30, 24}), out = Param("out", kF32, {24, 40});
  const Kernel kernel =
      KernelOf({in}, out, Pointwise(out, [&](const Index& i) {
                 return MakeSelect(i[1] < Expr(30), MakeLoad(in, {loop::Min(i[1], Expr(29)), i[0]}),
                                   loop::Const(kF32, 0));
               }));
  EXPECT_EQ(Schedule(kernel, VectorTarget(512)).description, "pointwise");
  ExpectLikeNaive(kernel, VectorTarget(512));
}

TEST(Transpose, OnlyWhereThatGains) {
  const Target target = VectorTarget(512);
  // Three channels: vectors and shuffles, or a few elements.
  EXPECT_EQ(Schedule(Transposed({1, 3, 640}), target).description, "pointwise");
  EXPECT_EQ(Schedule(Transposed({1, 640, 3}), target).description, "pointwise");
  EXPECT_EQ(Schedule(Transposed({1, 64, 64}), VectorTarget(0)).description, "pointwise");
  Target by_c = target;
  by_c.by_c_compiler = true;
  EXPECT_EQ(Schedule(Transposed({1, 64, 64}), by_c).description, "pointwise");
}

TEST(Transpose, ThreadsShareBlocks) {
  const std::string text = Text(Schedule(Transposed({1, 640, 480}), VectorTarget(256, 8)));
  EXPECT_TRUE(absl::StrContains(text, "for block in 0..15 parallel {")) << text;
  // Threads share the axes outside of the blocks if these have more iterations.
  const std::string batch = Text(Schedule(Transposed({100, 64, 48}), VectorTarget(256, 8)));
  EXPECT_TRUE(absl::StrContains(batch, "for i0 in 0..100 parallel {")) << batch;
}

}  // namespace
}  // namespace kiln::schedule
