// SPDX-License-Identifier: Apache-2.0
// More arithmetic of quantized constants: divisions, running sums, comparisons, normalizations,
// 16-bit numbers, and uint8. The expected numbers come from a second implementation of TFLite's
// arithmetic in Python integers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
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
using Type = ModelBuilder::Type;

struct Scale {
  float scale;
  int64_t zero_point;
};

template <typename T>
int Constant(ModelBuilder& b, Type type, ModelBuilder::Shape shape, const std::vector<int>& values,
             Scale scale) {
  const int tensor =
      b.Constant(std::move(shape), type, std::vector<T>(values.begin(), values.end()));
  b.Quantize(tensor, {scale.scale}, {scale.zero_point});
  return tensor;
}
ModelBuilder::Shape RowOf(const std::vector<int>& values) {
  return {1, static_cast<int32_t>(values.size())};
}
int Row(ModelBuilder& b, const std::vector<int>& values, Scale scale) {
  return Constant<int8_t>(b, Type::INT8, RowOf(values), values, scale);
}
int Row16(ModelBuilder& b, const std::vector<int>& values, float scale) {
  return Constant<int16_t>(b, Type::INT16, RowOf(values), values, {scale, 0});
}
int RowU8(ModelBuilder& b, const std::vector<int>& values, Scale scale) {
  return Constant<uint8_t>(b, Type::UINT8, RowOf(values), values, scale);
}

// Returns the elements of the only output.
std::vector<int64_t> Compute(const ModelBuilder& b) {
  const absl::StatusOr<Graph> graph = ImportTflite(b.Bytes(), "m.tflite", {}, EvaluateConstants);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok() || !graph->is_constant(graph->outputs[0])) return {};
  return graph->value(graph->outputs[0]).constant.ToInts();
}

template <typename... Options>
std::vector<int64_t> RunOp(ModelBuilder& b, BuiltinOperator code, std::vector<int> inputs,
                           Type type, Scale out, Options... options) {
  const int y = b.Op(code, std::move(inputs), "y", {}, std::move(options)..., type);
  b.Quantize(y, {out.scale}, {out.zero_point});
  b.Output(y);
  return Compute(b);
}

TEST(QuantizedMore, Div) {
  ModelBuilder b;
  const int x = Row(b, {100, -50, 7, 1, -128, 0}, {0.1F, 2});
  const int y = Row(b, {30, -60, 3, 127, -1, 9}, {0.05F, -5});
  EXPECT_THAT(
      RunOp(b, BuiltinOperator::DIV, {x, y}, Type::INT8, {0.04F, -3}, schema::DivOptionsT()),
      ElementsAre(127, 44, 28, -3, -128, -10));
}

std::vector<int64_t> Cumsum(bool exclusive, bool reverse) {
  ModelBuilder b;
  const int x = Row(b, {1, -10, 50, 7, 90}, {0.1F, 2});
  schema::CumsumOptionsT options;
  options.exclusive = exclusive;
  options.reverse = reverse;
  return RunOp(b, BuiltinOperator::CUMSUM, {x, b.Ints({1})}, Type::INT8, {0.31F, -9}, options);
}

TEST(QuantizedMore, Cumsum) {
  EXPECT_THAT(Cumsum(false, false), ElementsAre(-9, -13, 2, 4, 32));
  EXPECT_THAT(Cumsum(true, false), ElementsAre(-9, -9, -13, 2, 4));
  EXPECT_THAT(Cumsum(false, true), ElementsAre(32, 33, 36, 21, 19));
  EXPECT_THAT(Cumsum(true, true), ElementsAre(33, 36, 21, 19, -9));
}

TEST(QuantizedMore, LogSoftmax) {
  ModelBuilder b;
  const int x = Row(b, {10, 0, -30, 5, -128}, {0.1F, 9});
  EXPECT_THAT(RunOp(b, BuiltinOperator::LOG_SOFTMAX, {x}, Type::INT8, {0.0625F, 127}),
              ElementsAre(116, 100, 52, 108, -105));
}

TEST(QuantizedMore, L2Normalization) {
  ModelBuilder b;
  const int x = Row(b, {10, -20, 30, 5}, {0.1F, 3});
  EXPECT_THAT(RunOp(b, BuiltinOperator::L2_NORMALIZATION, {x}, Type::INT8, {0.0078125F, 0}),
              ElementsAre(25, -81, 95, 7));
}

TEST(QuantizedMore, SoftmaxOf16Bits) {
  ModelBuilder b;
  const int x = Row16(b, {1000, 0, -3000, 32767, -32768, 30000}, 0.0005F);
  schema::SoftmaxOptionsT options;
  options.beta = 1;
  EXPECT_THAT(RunOp(b, BuiltinOperator::SOFTMAX, {x}, Type::INT16, {1.0F / 32768, 0}, options),
              ElementsAre(2, 2, 2, 26195, 2, 6567));
}

TEST(QuantizedMore, SoftmaxOf16BitsWithBeta) {
  ModelBuilder b;
  const int x = Row16(b, {1000, 0, -3000}, 0.001F);
  schema::SoftmaxOptionsT options;
  options.beta = 2;
  EXPECT_THAT(RunOp(b, BuiltinOperator::SOFTMAX, {x}, Type::INT16, {1.0F / 32768, 0}, options),
              ElementsAre(28854, 3905, 10));
}

TEST(QuantizedMore, SoftmaxFrom8To16Bits) {
  ModelBuilder b;
  const int x = Row(b, {10, 0, -30, 5, -128}, {0.1F, 0});
  schema::SoftmaxOptionsT options;
  options.beta = 1;
  EXPECT_THAT(RunOp(b, BuiltinOperator::SOFTMAX, {x}, Type::INT16, {1.0F / 65536, -32768}, options),
              ElementsAre(120, -20669, -32166, -12821, -32768));
}

std::vector<int64_t> LeakyRelu(float alpha, float out_scale) {
  ModelBuilder b;
  const int x = Row(b, {-100, -3, 2, 20, 127}, {0.1F, 2});
  schema::LeakyReluOptionsT options;
  options.alpha = alpha;
  return RunOp(b, BuiltinOperator::LEAKY_RELU, {x}, Type::INT8, {out_scale, -9}, options);
}

TEST(QuantizedMore, LeakyReluOfAnySlope) {
  EXPECT_THAT(LeakyRelu(0, 0.15F), ElementsAre(-9, -9, -9, 3, 74));
  EXPECT_THAT(LeakyRelu(-0.3F, 0.15F), ElementsAre(12, -8, -9, 3, 74));
  EXPECT_THAT(LeakyRelu(1.7F, 0.05F), ElementsAre(-128, -26, -9, 27, 127));
}

TEST(QuantizedMore, LeakyReluOf16Bits) {
  ModelBuilder b;
  const int x = Row16(b, {-1000, -3, 0, 20, 32767}, 0.001F);
  schema::LeakyReluOptionsT options;
  options.alpha = -0.5F;
  EXPECT_THAT(RunOp(b, BuiltinOperator::LEAKY_RELU, {x}, Type::INT16, {0.002F, 0}, options),
              ElementsAre(250, 1, 0, 10, 16384));
}

std::vector<int64_t> Compared(BuiltinOperator code, const std::vector<int>& x, Scale x_scale,
                              const std::vector<int>& y, Scale y_scale) {
  ModelBuilder b;
  b.Output(b.Op(code, {Row(b, x, x_scale), Row(b, y, y_scale)}, "y", {}, Type::BOOL));
  return Compute(b);
}

TEST(QuantizedMore, ComparisonsOfTwoScales) {
  const std::vector<int> x = {-100, -3, 4, 20, 127}, y = {50, -3, 2, 5, 127};
  EXPECT_THAT(Compared(BuiltinOperator::GREATER, x, {0.1F, 2}, y, {0.07F, -5}),
              ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(Compared(BuiltinOperator::LESS_EQUAL, x, {0.1F, 2}, y, {0.07F, -5}),
              ElementsAre(1, 1, 1, 0, 0));
}

// 8 fractional bits cannot distinguish numbers at small scales.
TEST(QuantizedMore, ComparisonsOfSmallScales) {
  const Scale scale = {0.001F, 0};
  EXPECT_THAT(Compared(BuiltinOperator::EQUAL, {3, 4, 5, 6}, scale, {4, 4, 4, 4}, scale),
              ElementsAre(1, 1, 1, 0));
}

TEST(QuantizedMore, ConcatenationMovesInt8) {
  ModelBuilder b;
  const int x = Row(b, {1, 2}, {0.1F, 2}), y = Row(b, {3}, {0.2F, 5});
  schema::ConcatenationOptionsT options;
  options.axis = 1;
  EXPECT_THAT(RunOp(b, BuiltinOperator::CONCATENATION, {x, y}, Type::INT8, {0.1F, 2}, options),
              ElementsAre(1, 2, 3));
}

TEST(Uint8, ConcatenationRescales) {
  ModelBuilder b;
  const int x = RowU8(b, {0, 10, 100, 255}, {0.03F, 5}), y = RowU8(b, {3}, {0.05F, 128});
  schema::ConcatenationOptionsT options;
  options.axis = 1;
  EXPECT_THAT(RunOp(b, BuiltinOperator::CONCATENATION, {x, y}, Type::UINT8, {0.05F, 128}, options),
              ElementsAre(125, 131, 185, 255, 3));
}

TEST(Uint8, FullyConnected) {
  ModelBuilder b;
  const int x = RowU8(b, {200, 30}, {0.02F, 128});
  const int w = Constant<uint8_t>(b, Type::UINT8, {2, 2}, {130, 90, 10, 255}, {0.01F, 120});
  const int bias = b.Ints({500, -700});
  b.Quantize(bias, {0.0002F}, {0});
  EXPECT_THAT(RunOp(b, BuiltinOperator::FULLY_CONNECTED, {x, w, bias}, Type::UINT8, {0.05F, 100},
                    schema::FullyConnectedOptionsT()),
              ElementsAre(117, 13));
}

// With a bias of int32, sums have 32 bits and multipliers 31. With a bias of int64, or without one,
// sums have 64 bits and multipliers 15.
TEST(Int16, FullyConnectedSumsAsItsBiasDoes) {
  for (const Type bias_type : {Type::INT32, Type::INT64, Type::FLOAT32}) {
    ModelBuilder b;
    const int x = Constant<int16_t>(b, Type::INT16, {1, 1}, {30000}, {0.001F, 0});
    const int w = Constant<int8_t>(b, Type::INT8, {1, 1}, {100}, {0.01F, 0});
    int bias = -1;
    if (bias_type == Type::INT32) bias = b.Ints({7});
    if (bias_type == Type::INT64) bias = b.Constant<int64_t>({1}, Type::INT64, {7});
    EXPECT_THAT(RunOp(b, BuiltinOperator::FULLY_CONNECTED, {x, w, bias}, Type::INT16, {0.0014F, 0},
                      schema::FullyConnectedOptionsT()),
                ElementsAre(bias_type == Type::INT32 ? 21429 : 21428));
  }
}

// Without a bias, sums have 64 bits, unless the file declares that a bias would be int32.
TEST(Int16, ConvolutionsWithoutABias) {
  for (const Type bias_type : {Type::FLOAT32, Type::INT32, Type::INT64}) {
    for (const bool depthwise : {true, false}) {
      ModelBuilder b;
      const int x = Constant<int16_t>(b, Type::INT16, {1, 1, 1, 1}, {30000}, {0.001F, 0});
      const int w = Constant<int8_t>(b, Type::INT8, {1, 1, 1, 1}, {100}, {0.01F, 0});
      schema::Conv2DOptionsT one;
      schema::DepthwiseConv2DOptionsT each;
      one.stride_h = one.stride_w = each.stride_h = each.stride_w = 1;
      one.quantized_bias_type = bias_type;
      const Scale out = {0.0014F, 0};
      EXPECT_THAT(depthwise
                      ? RunOp(b, BuiltinOperator::DEPTHWISE_CONV_2D, {x, w}, Type::INT16, out, each)
                      : RunOp(b, BuiltinOperator::CONV_2D, {x, w}, Type::INT16, out, one),
                  ElementsAre(!depthwise && bias_type == Type::INT32 ? 21429 : 21428));
    }
  }
}

// The products of FullyConnected as convolutions of one position.
TEST(Uint8, Convolution) {
  ModelBuilder b;
  const int x = Constant<uint8_t>(b, Type::UINT8, {1, 1, 1, 2}, {200, 30}, {0.02F, 128});
  const int w = Constant<uint8_t>(b, Type::UINT8, {2, 1, 1, 2}, {130, 90, 10, 255}, {0.01F, 120});
  const int bias = b.Ints({500, -700});
  b.Quantize(bias, {0.0002F}, {0});
  schema::Conv2DOptionsT options;
  options.stride_h = options.stride_w = 1;
  EXPECT_THAT(RunOp(b, BuiltinOperator::CONV_2D, {x, w, bias}, Type::UINT8, {0.05F, 100}, options),
              ElementsAre(117, 13));
}

// The same products along the height of one channel.
TEST(Uint8, DepthwiseConvolution) {
  ModelBuilder b;
  const int x = Constant<uint8_t>(b, Type::UINT8, {1, 2, 1, 1}, {200, 30}, {0.02F, 128});
  const int w = Constant<uint8_t>(b, Type::UINT8, {1, 2, 1, 2}, {130, 10, 90, 255}, {0.01F, 120});
  const int bias = b.Ints({500, -700});
  b.Quantize(bias, {0.0002F}, {0});
  schema::DepthwiseConv2DOptionsT options;
  options.stride_h = options.stride_w = 1;
  options.padding = schema::Padding::VALID;
  EXPECT_THAT(RunOp(b, BuiltinOperator::DEPTHWISE_CONV_2D, {x, w, bias}, Type::UINT8, {0.05F, 100},
                    options),
              ElementsAre(117, 13));
}

TEST(Uint8, AddAndMul) {
  const std::vector<int> x = {0, 100, 200, 255}, y = {10, 130, 128, 255};
  ModelBuilder add, mul;
  EXPECT_THAT(
      RunOp(add, BuiltinOperator::ADD, {RowU8(add, x, {0.1F, 128}), RowU8(add, y, {0.05F, 120})},
            Type::UINT8, {0.12F, 100}, schema::AddOptionsT()),
      ElementsAre(0, 81, 163, 255));
  EXPECT_THAT(
      RunOp(mul, BuiltinOperator::MUL, {RowU8(mul, x, {0.1F, 128}), RowU8(mul, y, {0.05F, 120})},
            Type::UINT8, {0.12F, 100}, schema::MulOptionsT()),
      ElementsAre(255, 88, 124, 255));
}

TEST(Uint8, Softmax) {
  ModelBuilder b;
  schema::SoftmaxOptionsT options;
  options.beta = 1;
  EXPECT_THAT(RunOp(b, BuiltinOperator::SOFTMAX, {RowU8(b, {200, 190, 100, 0}, {0.1F, 3})},
                    Type::UINT8, {1.0F / 256, 0}, options),
              ElementsAre(187, 69, 0, 0));
}

TEST(Uint8, LogisticAndTanh) {
  const std::vector<int> x = {0, 100, 128, 140, 255};
  ModelBuilder logistic, tanh;
  EXPECT_THAT(RunOp(logistic, BuiltinOperator::LOGISTIC, {RowU8(logistic, x, {0.05F, 128})},
                    Type::UINT8, {1.0F / 256, 0}),
              ElementsAre(0, 51, 128, 165, 255));
  EXPECT_THAT(RunOp(tanh, BuiltinOperator::TANH, {RowU8(tanh, x, {0.05F, 128})}, Type::UINT8,
                    {1.0F / 128, 128}),
              ElementsAre(0, 15, 128, 197, 255));
}

// 355 / 4 is 88.75, and the largest number is 255.
TEST(Uint8, Pools) {
  for (const bool average : {true, false}) {
    ModelBuilder b;
    const int x = Constant<uint8_t>(b, Type::UINT8, {1, 2, 2, 1}, {0, 100, 0, 255}, {0.1F, 7});
    schema::Pool2DOptionsT options;
    options.filter_height = options.filter_width = options.stride_h = options.stride_w = 2;
    EXPECT_THAT(RunOp(b, average ? BuiltinOperator::AVERAGE_POOL_2D : BuiltinOperator::MAX_POOL_2D,
                      {x}, Type::UINT8, {0.1F, 7}, options),
                ElementsAre(average ? 89 : 255));
  }
}

TEST(Uint8, PadAndReshape) {
  ModelBuilder b;
  const int pads = b.Constant<int32_t>({2, 2}, Type::INT32, {0, 0, 1, 0});
  const int x = RowU8(b, {200, 3}, {0.1F, 7});
  const int y = b.Op(BuiltinOperator::PAD, {x, pads}, "padded", {1, 3}, Type::UINT8);
  b.Quantize(y, {0.1F}, {7});
  EXPECT_THAT(RunOp(b, BuiltinOperator::RESHAPE, {y, b.Ints({3, 1})}, Type::UINT8, {0.1F, 7}),
              ElementsAre(7, 200, 3));
}

}  // namespace
}  // namespace kiln::tflite_frontend
