// SPDX-License-Identifier: Apache-2.0
// Arithmetic of quantized constants, which the importer computes. The expected numbers are those of
// TFLite Micro's reference kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/graph/graph.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Type = ModelBuilder::Type;

struct Scale {
  float scale;
  int64_t zero_point;
};

int Quantized(ModelBuilder& b, ModelBuilder::Shape shape, const std::vector<int>& values,
              Scale scale, Type type = Type::INT8) {
  int tensor = 0;
  if (type == Type::INT8) {
    tensor = b.Constant(std::move(shape), type, std::vector<int8_t>(values.begin(), values.end()));
  } else {
    tensor = b.Constant(std::move(shape), type, std::vector<int16_t>(values.begin(), values.end()));
  }
  b.Quantize(tensor, {scale.scale}, {scale.zero_point});
  return tensor;
}

int Row(ModelBuilder& b, const std::vector<int>& values, Scale scale) {
  return Quantized(b, {static_cast<int32_t>(values.size())}, values, scale);
}

// Returns the elements of the only output.
std::vector<int64_t> Compute(const ModelBuilder& b) {
  const absl::StatusOr<Graph> graph = ImportTflite(b.Bytes(), "m.tflite", {}, EvaluateConstants);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok() || !graph->is_constant(graph->outputs[0])) return {};
  return graph->value(graph->outputs[0]).constant.ToInts();
}

// Returns the elements of an operator's int8 result.
std::vector<int64_t> RunOp(ModelBuilder& b, BuiltinOperator code, std::vector<int> inputs,
                           Scale out) {
  const int y = b.Op(code, std::move(inputs), "y", {}, Type::INT8);
  b.Quantize(y, {out.scale}, {out.zero_point});
  b.Output(y);
  return Compute(b);
}
template <typename Options>
std::vector<int64_t> RunOp(ModelBuilder& b, BuiltinOperator code, std::vector<int> inputs,
                           Options options, Scale out) {
  const int y = b.Op(code, std::move(inputs), "y", {}, std::move(options), Type::INT8);
  b.Quantize(y, {out.scale}, {out.zero_point});
  b.Output(y);
  return Compute(b);
}

TEST(Quantized, HardSwish) {
  ModelBuilder b;
  const int x = Row(b, {-128, -60, -20, -3, 0, 4, 9, 40, 127}, {0.05F, -3});
  EXPECT_THAT(RunOp(b, BuiltinOperator::HARD_SWISH, {x}, {0.04F, 5}),
              ElementsAre(5, 3, -3, 5, 7, 10, 14, 51, 127));
}

TEST(Quantized, HardSwishOfCoarseNumbers) {
  ModelBuilder b;
  const int x = Row(b, {-128, -7, 0, 1, 5, 33, 127}, {0.5F, 0});
  EXPECT_THAT(RunOp(b, BuiltinOperator::HARD_SWISH, {x}, {0.25F, -118}),
              ElementsAre(-118, -118, -118, -117, -109, -52, 127));
}

TEST(Quantized, Rsqrt) {
  ModelBuilder b;
  const int x = Row(b, {-20, -19, -18, -10, 0, 60, 127}, {0.1F, -20});
  EXPECT_THAT(RunOp(b, BuiltinOperator::RSQRT, {x}, {0.02F, -100}),
              ElementsAre(127, 58, 12, -50, -65, -82, -87));
}

TEST(Quantized, Elu) {
  ModelBuilder b;
  const int x = Row(b, {-128, -20, -3, -2, 0, 40, 127}, {0.05F, -3});
  EXPECT_THAT(RunOp(b, BuiltinOperator::ELU, {x}, {0.03F, -20}),
              ElementsAre(-53, -39, -20, -18, -15, 52, 127));
}

TEST(Quantized, SquaredDifference) {
  ModelBuilder b;
  const int x = Row(b, {-100, -3, 20, 77, 127}, {0.1F, 2});
  const int y = Row(b, {50, 4, 20, -80, -128}, {0.07F, -5});
  EXPECT_THAT(RunOp(b, BuiltinOperator::SQUARED_DIFFERENCE, {x, y}, {2.5F, -120}),
              ElementsAre(-41, -119, -120, -55, 58));
}

TEST(Quantized, Prelu) {
  ModelBuilder b;
  const int x = Row(b, {-100, -3, 20, 77}, {0.1F, 2});
  const int slope = Row(b, {50, -60, 20, -80}, {0.01F, -5});
  EXPECT_THAT(RunOp(b, BuiltinOperator::PRELU, {x, slope}, {0.15F, -9}),
              ElementsAre(-46, -7, 3, 41));
}

TEST(Quantized, Abs) {
  ModelBuilder b;
  const int x = Row(b, {-100, -3, 20, 127}, {0.1F, 2});
  EXPECT_THAT(RunOp(b, BuiltinOperator::ABS, {x}, {0.15F, -9}), ElementsAre(59, -6, 3, 74));
}

TEST(Quantized, AbsWithOneScaleIsExact) {
  ModelBuilder b;
  const int x = Row(b, {-100, -3, 20, 127}, {0.1F, 2});
  EXPECT_THAT(RunOp(b, BuiltinOperator::ABS, {x}, {0.1F, -9}), ElementsAre(93, -4, 9, 116));
}

TEST(Quantized, AddN) {
  ModelBuilder b;
  const Scale scale = {0.1F, 2};
  const int x = Row(b, {1, -100, 50}, scale), y = Row(b, {7, -90, 60}, scale);
  const int z = Row(b, {3, 20, 70}, scale);
  EXPECT_THAT(RunOp(b, BuiltinOperator::ADD_N, {x, y, z}, {0.17F, -9}), ElementsAre(-6, -113, 93));
}

TEST(Quantized, AddNWantsOneScale) {
  ModelBuilder b;
  const int x = Row(b, {1}, {0.1F, 2}), z = Row(b, {1}, {0.2F, 2});
  const int y = b.Op(BuiltinOperator::ADD_N, {x, z}, "y", {}, Type::INT8);
  b.Quantize(y, {0.1F}, {0});
  b.Output(y);
  const absl::StatusOr<Graph> graph = ImportTflite(b.Bytes(), "m.tflite", {}, EvaluateConstants);
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(std::string(graph.status().message()), HasSubstr("differ"));
}

TEST(Quantized, Sum) {
  ModelBuilder b;
  const int x = Quantized(b, {2, 3}, {1, -100, 50, 7, 90, 60}, {0.1F, 2});
  EXPECT_THAT(
      RunOp(b, BuiltinOperator::SUM, {x, b.Ints({1})}, schema::ReducerOptionsT(), {0.31F, -9}),
      ElementsAre(-27, 40));
}

TEST(Quantized, BatchMatMul) {
  ModelBuilder b;
  const int x = Quantized(b, {2, 3}, {10, -20, 30, 5, 6, -7}, {0.1F, 3});
  const int y = Quantized(b, {3, 2}, {1, 2, -30, 40, 50, 60}, {0.05F, -4});
  EXPECT_THAT(
      RunOp(b, BuiltinOperator::BATCH_MATMUL, {x, y}, schema::BatchMatMulOptionsT(), {0.2F, 7}),
      ElementsAre(59, 26, -8, -5));
}

TEST(Quantized, ResizeBilinear) {
  const Scale scale = {0.1F, 2};
  for (const bool align_corners : {false, true}) {
    ModelBuilder b;
    const int x = Quantized(b, {1, 2, 2, 1}, {3, -6, 9, 120}, scale);
    schema::ResizeBilinearOptionsT options;
    options.align_corners = align_corners;
    const std::vector<int64_t> found =
        RunOp(b, BuiltinOperator::RESIZE_BILINEAR, {x, b.Ints({3, 3})}, options, scale);
    if (align_corners) {
      EXPECT_THAT(found, ElementsAre(3, -2, -6, 6, 32, 57, 9, 65, 120));
    } else {
      EXPECT_THAT(found, ElementsAre(3, -3, -6, 7, 54, 78, 9, 83, 120));
    }
  }
}

TEST(Quantized, ResizeBilinearFromCentres) {
  ModelBuilder b;
  const Scale scale = {0.1F, 2};
  const int x = Quantized(b, {1, 2, 2, 1}, {3, -6, 9, 120}, scale);
  schema::ResizeBilinearOptionsT options;
  options.half_pixel_centers = true;
  EXPECT_THAT(RunOp(b, BuiltinOperator::RESIZE_BILINEAR, {x, b.Ints({3, 3})}, options, scale),
              ElementsAre(3, -2, -6, 6, 32, 57, 9, 65, 120));
}

// The integer arithmetic of int8 would give 51 in the second row.
TEST(Quantized, ResizeBilinearOfUint8IsInFloats) {
  ModelBuilder b;
  const int x = b.Constant<uint8_t>({1, 2, 2, 1}, Type::UINT8, {0, 255, 101, 7});
  b.Quantize(x, {0.1F}, {0});
  schema::ResizeBilinearOptionsT options;
  options.half_pixel_centers = true;
  const int y =
      b.Op(BuiltinOperator::RESIZE_BILINEAR, {x, b.Ints({3, 5})}, "y", {}, options, Type::UINT8);
  b.Quantize(y, {0.1F}, {0});
  b.Output(y);
  EXPECT_THAT(Compute(b),
              ElementsAre(0, 26, 128, 230, 255, 50, 59, 91, 123, 131, 101, 92, 54, 16, 7));
}

// Two outputs with two filters each over two steps. The state is constant.
std::vector<int64_t> RunSvdf(Type type, const std::vector<int>& time, Scale time_scale,
                             Scale state_scale, std::vector<int32_t> bias, Scale out) {
  ModelBuilder b;
  const int x = Quantized(b, {1, 2}, {10, -20}, {0.1F, -3});
  const int features = Quantized(b, {4, 2}, {30, -40, 50, 60, -70, 80, 9, -100}, {0.02F, 0});
  const int weights = Quantized(b, {4, 2}, time, time_scale, type);
  const int zero = static_cast<int>(state_scale.zero_point);
  const int state = Quantized(b, {1, 8}, std::vector<int>(8, zero), state_scale, type);
  schema::SVDFOptionsT options;
  options.rank = 2;
  return RunOp(b, BuiltinOperator::SVDF, {x, features, weights, b.Ints(bias), state}, options, out);
}

TEST(Quantized, SvdfWithStateOf16Bits) {
  EXPECT_THAT(RunSvdf(Type::INT16, {1000, -2000, 3000, 4000, -500, 700, 900, 1100}, {0.00003F, 0},
                      {0.0005F, 0}, {5000, -700}, {0.03F, -7}),
              ElementsAre(-14, -6));
}

TEST(Quantized, SvdfWithStateOf8Bits) {
  EXPECT_THAT(RunSvdf(Type::INT8, {10, -20, 30, 40, -50, 70, 90, 110}, {0.01F, 0}, {0.25F, 4},
                      {500, -700}, {0.3F, -7}),
              ElementsAre(-5, -10));
}

}  // namespace
}  // namespace kiln::tflite_frontend
