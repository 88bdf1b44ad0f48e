// SPDX-License-Identifier: Apache-2.0
// Quantized operators whose results differ from TFLite Micro's (docs/decisions/0051). The bytes of
// TFLite Micro come from the Python package tflite-micro 0.dev20261023182759.
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
using Type = ModelBuilder::Type;
using Numbers = std::vector<int64_t>;

struct Scale {
  float scale;
  int64_t zero_point = 0;
};

int Constant(ModelBuilder& b, Type type, ModelBuilder::Shape shape, const Numbers& values,
             Scale scale) {
  const auto add = [&]<typename T>(T) {
    return b.Constant(std::move(shape), type, std::vector<T>(values.begin(), values.end()));
  };
  const int tensor = type == Type::INT8    ? add(int8_t{})
                     : type == Type::INT16 ? add(int16_t{})
                     : type == Type::INT32 ? add(int32_t{})
                                           : add(int64_t{});
  b.Quantize(tensor, {scale.scale}, {scale.zero_point});
  return tensor;
}
int Row(ModelBuilder& b, Type type, const Numbers& values, Scale scale) {
  return Constant(b, type, {1, static_cast<int32_t>(values.size())}, values, scale);
}

// Returns the elements of the operator's output.
template <typename... Options>
Numbers Compute(ModelBuilder& b, BuiltinOperator code, std::vector<int> inputs, Type type,
                Scale out, Options... options) {
  const int y = b.Op(code, std::move(inputs), "y", {}, std::move(options)..., type);
  if (type != Type::BOOL) b.Quantize(y, {out.scale}, {out.zero_point});
  b.Output(y);
  const absl::StatusOr<Graph> graph = ImportTflite(b.Bytes(), "m.tflite", {}, EvaluateConstants);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok() || !graph->is_constant(graph->outputs[0])) return {};
  return graph->value(graph->outputs[0]).constant.ToInts();
}

// Checks that Kiln computes the numbers `kiln`, and that they differ from those of TFLite Micro.
void ExpectOwn(const Numbers& computed, const Numbers& kiln, const Numbers& micro) {
  EXPECT_EQ(computed, kiln);
  EXPECT_NE(kiln, micro);
}

// kTerms products of 32767 and 127, in an output scale of 2^18 products.
constexpr int kTerms = 1024;
constexpr float kDataScale = 0x1p-10F, kWeightScale = 0x1p-7F;
const Scale kManyProducts = {kDataScale * kWeightScale * 0x1p18F};

enum class Bias { kInt32, kInt64, kNone, kNoneButInt32 };

Numbers FullyConnected(Bias bias, const Numbers& data, const Numbers& weight, Scale out) {
  ModelBuilder b;
  const int x = Row(b, Type::INT16, data, {kDataScale});
  const int w = Row(b, Type::INT8, weight, {kWeightScale});
  int added = -1;
  if (bias == Bias::kInt32) added = b.Ints({0});
  if (bias == Bias::kInt64) added = b.Constant<int64_t>({1}, Type::INT64, {0});
  schema::FullyConnectedOptionsT options;
  if (bias == Bias::kNoneButInt32) options.quantized_bias_type = Type::INT32;
  return Compute(b, BuiltinOperator::FULLY_CONNECTED, {x, w, added}, Type::INT16, out, options);
}

Numbers Conv2d(Bias bias, const Numbers& data, const Numbers& weight, Scale out) {
  ModelBuilder b;
  const auto terms = static_cast<int32_t>(data.size());
  const int x = Constant(b, Type::INT16, {1, 1, 1, terms}, data, {kDataScale});
  const int w = Constant(b, Type::INT8, {1, 1, 1, terms}, weight, {kWeightScale});
  int added = -1;
  if (bias == Bias::kInt32) added = b.Ints({0});
  if (bias == Bias::kInt64) added = b.Constant<int64_t>({1}, Type::INT64, {0});
  schema::Conv2DOptionsT options;
  options.stride_h = options.stride_w = 1;
  if (bias == Bias::kNoneButInt32) options.quantized_bias_type = Type::INT32;
  return Compute(b, BuiltinOperator::CONV_2D, {x, w, added}, Type::INT16, out, options);
}

// 1024 * 32767 * 127 / 2^18 is 16255.5. TFLite Micro's int32 sum wraps around to -33685504.
TEST(WideSums, ProductsWithABiasOfInt32) {
  const Numbers data(kTerms, 32767), weight(kTerms, 127);
  for (const Bias bias : {Bias::kInt32, Bias::kNoneButInt32}) {
    ExpectOwn(FullyConnected(bias, data, weight, kManyProducts), {16256}, {-128});
    ExpectOwn(Conv2d(bias, data, weight, kManyProducts), {16256}, {-128});
  }
  // int64 sums are right in both.
  for (const Bias bias : {Bias::kInt64, Bias::kNone}) {
    EXPECT_EQ(FullyConnected(bias, data, weight, kManyProducts), Numbers{16256});
    EXPECT_EQ(Conv2d(bias, data, weight, kManyProducts), Numbers{16256});
  }
}

// Weights that allow a large sum do not change the bytes of a small one. With a factor of 31 bits,
// 30000 * 100 / 140 is 21428.57. A factor of 15 bits would give 21428.
TEST(WideSums, SmallSumsKeepTheirBytes) {
  Numbers data(kTerms, 0);
  data[0] = 30000;
  Numbers weight(kTerms, 127);
  weight[0] = 100;
  EXPECT_EQ(FullyConnected(Bias::kInt32, data, weight, {140 * 0x1p-17F}), Numbers{21429});
  EXPECT_EQ(Conv2d(Bias::kInt32, data, weight, {140 * 0x1p-17F}), Numbers{21429});
  EXPECT_EQ(FullyConnected(Bias::kInt64, data, weight, {140 * 0x1p-17F}), Numbers{21428});
}

// The sum exceeds 2^31 and the range of the output.
TEST(WideSums, LargeSumsAreSaturated) {
  const Numbers data(kTerms, 32767), weight(kTerms, 127);
  EXPECT_EQ(FullyConnected(Bias::kInt32, data, weight, {140 * 0x1p-17F}), Numbers{32767});
  EXPECT_EQ(FullyConnected(Bias::kInt32, data, Numbers(kTerms, -127), {140 * 0x1p-17F}),
            Numbers{-32768});
}

// 1638400000 * 4 exceeds int32. TFLite Micro truncates the rescaled int64 sum to its low 32 bits.
TEST(WideSums, RescaledSumsOfInt64) {
  const Numbers data(1000, 16384), weight(1000, 100);
  ExpectOwn(FullyConnected(Bias::kInt64, data, weight, {kDataScale * kWeightScale / 4}), {32767},
            {-32768});
}

// In TFLite Micro, a sum of 2^29 or more times a factor of 2^s is shifted by s + 1 bits, out of
// int32.
TEST(WideSums, ProductsOfInt32ShiftedLeft) {
  ExpectOwn(Conv2d(Bias::kNoneButInt32, {30000}, {127}, {kDataScale * kWeightScale / 1024}),
            {32767}, {-32768});
}

Numbers Unary(BuiltinOperator code, Type type, const Numbers& x, Scale in, Scale out) {
  ModelBuilder b;
  return Compute(b, code, {Row(b, type, x, in)}, type, out);
}

TEST(WideSums, NumbersShiftedLeft) {
  const Numbers x = {-30000, 30000, -1, 1};
  const Scale one = {1}, small = {0x1p-17F};
  ExpectOwn(Unary(BuiltinOperator::ABS, Type::INT16, x, one, small), {32767, 32767, 32767, 32767},
            {-32768, -32768, 32767, 32767});
  ExpectOwn(Unary(BuiltinOperator::RELU, Type::INT16, x, one, small), {0, 32767, 0, 32767},
            {32767, 0, 0, 32767});
  ExpectOwn(Unary(BuiltinOperator::RELU, Type::INT8, {-128, 127, -1, 1}, one, {0x1p-25F}),
            {0, 127, 0, 127}, {0, 0, 0, 127});
  schema::LeakyReluOptionsT options;
  options.alpha = 0.5F;
  ModelBuilder leaky;
  ExpectOwn(Compute(leaky, BuiltinOperator::LEAKY_RELU, {Row(leaky, Type::INT16, x, one)},
                    Type::INT16, small, options),
            {-32768, 32767, -32768, 32767}, {32767, -32768, -32768, 32767});
  options.alpha = -0.5F;
  ModelBuilder falling;
  EXPECT_EQ(Compute(falling, BuiltinOperator::LEAKY_RELU, {Row(falling, Type::INT16, x, one)},
                    Type::INT16, small, options),
            (Numbers{32767, 32767, 32767, 32767}));
}

TEST(WideSums, QuantizeShiftedLeft) {
  const Numbers x = {-30000, 30000, -1, 1};
  ModelBuilder narrow, wide;
  ExpectOwn(Compute(narrow, BuiltinOperator::QUANTIZE, {Row(narrow, Type::INT16, x, {1})},
                    Type::INT8, {0x1p-17F}),
            {-128, 127, -128, 127}, {127, -128, -128, 127});
  ExpectOwn(Compute(wide, BuiltinOperator::QUANTIZE, {Row(wide, Type::INT16, x, {1})}, Type::INT32,
                    {0x1p-18F}),
            {-2147483648, 2147483647, -262144, 262144}, {725614592, -725614592, -262144, 262144});
}

TEST(WideSums, Prelu) {
  ModelBuilder b;
  const Numbers x = {-30000, -20000, -10000, -100, 5, 30000};
  const int data = Constant(b, Type::INT16, {1, 1, 1, 6}, x, {1});
  const int slope = Constant(b, Type::INT8, {1, 1, 6}, Numbers(6, 64), {1});
  ExpectOwn(Compute(b, BuiltinOperator::PRELU, {data, slope}, Type::INT16, {0x1p-12F}),
            {-32768, -32768, -32768, -32768, 20480, 32767},
            {32767, -32768, -32768, -32768, 20480, 32767});
}

TEST(WideSums, Mul) {
  ModelBuilder b;
  const int x = Row(b, Type::INT16, {30000, -30000, 32767, 100}, {1});
  const int y = Row(b, Type::INT16, {30000, 30000, 32767, 3}, {1});
  ExpectOwn(Compute(b, BuiltinOperator::MUL, {x, y}, Type::INT16, {0.5F}, schema::MulOptionsT()),
            {32767, -32768, 32767, 600}, {-32768, 32767, -32768, 600});
}

Numbers Reduced(BuiltinOperator code, Type type, const Numbers& x, Scale out) {
  ModelBuilder b;
  return Compute(b, code, {Row(b, type, x, {1}), b.Ints({1})}, type, out,
                 schema::ReducerOptionsT());
}

// 70000 * 32767 / 2^17 is 17499.47.
TEST(WideSums, Reductions) {
  ExpectOwn(Reduced(BuiltinOperator::SUM, Type::INT16, Numbers(70000, 32767), {0x1p17F}), {17499},
            {-15269});
  ExpectOwn(Reduced(BuiltinOperator::SUM, Type::INT16, Numbers(4, 32767), {0x1p-15F}), {32767},
            {-32768});
  ExpectOwn(Reduced(BuiltinOperator::MEAN, Type::INT16, Numbers(4, 32767), {0x1p-18F}), {32767},
            {-32768});
  ExpectOwn(Reduced(BuiltinOperator::MEAN, Type::INT8, Numbers(4, 127), {0x1p-25F}), {127}, {-128});
}

TEST(WideSums, AveragePool) {
  ModelBuilder b;
  const int x = Constant(b, Type::INT16, {1, 258, 258, 1}, Numbers(258 * 258, 32767), {1});
  schema::Pool2DOptionsT options;
  options.filter_height = options.filter_width = 258;
  options.stride_h = options.stride_w = 1;
  options.padding = schema::Padding::VALID;
  ExpectOwn(Compute(b, BuiltinOperator::AVERAGE_POOL_2D, {x}, Type::INT16, {1}, options), {32767},
            {-31757});
}

Numbers BatchMatMul(Type type, int32_t terms, Scale in, Scale out) {
  ModelBuilder b;
  const int64_t most = type == Type::INT8 ? 127 : 32767;
  const int x = Constant(b, type, {1, 1, terms}, Numbers(terms, most), {1});
  const int y = Constant(b, type, {1, terms, 1}, Numbers(terms, most), {1});
  b.Quantize(x, {1}, {in.zero_point});
  b.Quantize(y, {1}, {in.zero_point});
  return Compute(b, BuiltinOperator::BATCH_MATMUL, {x, y}, type, out,
                 schema::BatchMatMulOptionsT());
}

TEST(WideSums, BatchMatMul) {
  ExpectOwn(BatchMatMul(Type::INT16, 8, {1}, {0.5F}), {32767}, {-32768});
  ExpectOwn(BatchMatMul(Type::INT8, 8, {1}, {0x1p-15F}), {127}, {-128});
}

// The state has 127 * 127 / 0.5 twice, and the third is new: 3 * 32258 * 32767 / 2^25 is 94.5.
TEST(WideSums, Svdf) {
  ModelBuilder b;
  const int x = Row(b, Type::INT8, {127}, {1}), features = Row(b, Type::INT8, {127}, {1});
  const int time = Row(b, Type::INT16, {32767, 32767, 32767}, {1});
  const int state = Row(b, Type::INT16, {0, 32258, 32258}, {0.5F});
  schema::SVDFOptionsT options;
  options.rank = 1;
  options.fused_activation_function = schema::Activation::RELU;
  ExpectOwn(Compute(b, BuiltinOperator::SVDF, {x, features, time, b.Ints({0}), state}, Type::INT8,
                    {0x1p24F}, options),
            {95}, {-33});
}

// 20 * 255 is 5100, which exceeds int32 with 19 additional bits.
TEST(ExactSums, AddN) {
  ModelBuilder two, twenty;
  const int x = Row(two, Type::INT8, {-1, 3, 3, 40}, {0.1F, 10});
  ExpectOwn(Compute(two, BuiltinOperator::ADD_N, {x, x}, Type::INT8, {0.2F, -5}),
            {-16, -12, -12, 25}, {-21, -17, -17, 20});
  const int y = Row(twenty, Type::INT8, {127, -128, 100, 0}, {0.1F, -128});
  ExpectOwn(Compute(twenty, BuiltinOperator::ADD_N, std::vector<int>(20, y), Type::INT8, {4, -128}),
            {0, -128, -14, -64}, {-128, -125, -128, -61});
}

Numbers Cumsum(const Numbers& x, Scale in, Scale out) {
  ModelBuilder b;
  return Compute(b, BuiltinOperator::CUMSUM, {Row(b, Type::INT8, x, in), b.Ints({1})}, Type::INT8,
                 out, schema::CumsumOptionsT());
}

TEST(ExactSums, Cumsum) {
  ExpectOwn(Cumsum({1, -10, 50, 7, 90}, {0.1F, 2}, {0.31F, -9}), {-9, -13, 2, 4, 32},
            {-10, -14, 2, 3, 32});
  ExpectOwn(Cumsum(Numbers(24, 127), {0.1F, -128}, {2.6F, -128}),
            {-118, -108, -99, -89, -79, -69, -59, -50, -40, -30, -20, -10,
             0,    9,    19,  29,  39,  49,  58,  68,  78,  88,  98,  107},
            {-113, -103, -94, -84,  -74,  -64,  -54,  -45,  -35,  -25,  -15,  -5,
             4,    14,   24,  -128, -128, -128, -128, -128, -128, -128, -128, -128});
  // With the zero point 0, there is no difference.
  EXPECT_EQ(Cumsum({1, -10, 50, 7, 90}, {0.1F}, {0.31F, -9}), (Numbers{-9, -12, 4, 6, 36}));
}

// TFLite Micro clips the numbers of the input and ignores the output's scale.
TEST(Scales, Relu6) {
  ExpectOwn(Unary(BuiltinOperator::RELU6, Type::INT8, {-128, -50, -10, 0, 10, 127}, {0.1F, -20},
                  {0.05F, -128}),
            {-128, -128, -108, -88, -68, -8}, {-20, -20, -10, 0, 10, 40});
  ExpectOwn(Unary(BuiltinOperator::RELU6, Type::INT16, {-30000, -5, 10, 1000, 5000, 30000},
                  {0.001F}, {0.002F}),
            {0, 0, 5, 500, 2500, 3000}, {0, 0, 10, 1000, 5000, 6000});
  // With equal scales, there is no difference.
  EXPECT_EQ(Unary(BuiltinOperator::RELU6, Type::INT8, {-128, -50, -10, 0, 10, 127}, {0.1F, -20},
                  {0.1F, -20}),
            (Numbers{-20, -20, -10, 0, 10, 40}));
}

Numbers Greater(Type type, const Numbers& x, Scale of_x, const Numbers& y, Scale of_y) {
  ModelBuilder b;
  return Compute(b, BuiltinOperator::GREATER, {Row(b, type, x, of_x), Row(b, type, y, of_y)},
                 Type::BOOL, {1});
}

// TFLite Micro has no scales for int16 and answers false. It aborts at scales of 1 or more.
TEST(Scales, Comparisons) {
  ExpectOwn(Greater(Type::INT16, {10, 20, 30, -5}, {0.5F}, {15, 15, 15, -6}, {0.5F}), {0, 1, 1, 1},
            {0, 0, 0, 0});
  EXPECT_EQ(Greater(Type::INT8, {10, 20, 30, -5}, {1}, {15, 15, 15, -6}, {1}),
            (Numbers{0, 1, 1, 1}));
  // 10.5, 25.5, 40.5 and -12 compared with 10.5, 1.5, 1.5 and -0.6.
  EXPECT_EQ(Greater(Type::INT8, {10, 20, 30, -5}, {1.5F, 3}, {105, 15, 15, -6}, {0.1F}),
            (Numbers{0, 1, 1, 0}));
}

// Products with a negative slope are rounded before their sign changes, as in TFLite Micro, so
// halves go down.
TEST(Bytes, LeakyReluOfANegativeSlope) {
  ModelBuilder b;
  schema::LeakyReluOptionsT options;
  options.alpha = -0.5F;
  EXPECT_EQ(Compute(b, BuiltinOperator::LEAKY_RELU,
                    {Row(b, Type::INT8, {-1, -2, -3, -4, -5, -6}, {1})}, Type::INT8, {1}, options),
            (Numbers{0, 1, 1, 2, 2, 3}));
}

}  // namespace
}  // namespace kiln::tflite_frontend
