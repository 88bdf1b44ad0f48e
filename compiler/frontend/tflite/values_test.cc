// SPDX-License-Identifier: Apache-2.0
// Operators on constants, which the importer computes: the resulting numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_builder.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using schema::Padding;
using ::testing::ElementsAre;
using Type = ModelBuilder::Type;
using Values = std::vector<double>;

// Returns the values of all outputs in order, or none if the import fails.
Values Compute(const ModelBuilder& b) {
  const absl::StatusOr<Graph> graph = ImportTflite(b.Bytes(), "m.tflite", {}, EvaluateConstants);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  Values values;
  for (ValueId output : graph->outputs) {
    EXPECT_TRUE(graph->is_constant(output));
    if (!graph->is_constant(output)) return {};
    const Tensor& tensor = graph->value(output).constant;
    for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
      values.push_back(tensor.AsDouble(i));
    }
  }
  return values;
}

// Returns the values of an operator with one output. Its shape in the file does not matter.
Values RunOp(ModelBuilder& b, BuiltinOperator code, std::vector<int> inputs,
             Type type = Type::FLOAT32) {
  b.Output(b.Op(code, std::move(inputs), "y", {}, type));
  return Compute(b);
}
template <typename Options>
Values RunOp(ModelBuilder& b, BuiltinOperator code, std::vector<int> inputs, Options options,
             Type type = Type::FLOAT32) {
  b.Output(b.Op(code, std::move(inputs), "y", {}, std::move(options), type));
  return Compute(b);
}

TEST(Values, FullyConnected) {
  ModelBuilder b;
  const int x = b.Floats({1, 2}, {1, 2}), w = b.Floats({2, 2}, {1, 10, -1, -10});
  schema::FullyConnectedOptionsT options;
  options.fused_activation_function = schema::Activation::RELU;
  EXPECT_THAT(
      RunOp(b, BuiltinOperator::FULLY_CONNECTED, {x, w, b.Floats({2}, {0.5, 0.5})}, options),
      ElementsAre(21.5, 0));
}

TEST(Values, FullyConnectedFlattensAndTakesNoBias) {
  ModelBuilder b;
  const int x = b.Floats({1, 2, 2}, {1, 2, 3, 4}), w = b.Floats({1, 4}, {1, 1, 1, 1});
  EXPECT_THAT(RunOp(b, BuiltinOperator::FULLY_CONNECTED, {x, w, -1}), ElementsAre(10));
}

TEST(Values, FusedActivations) {
  const std::pair<schema::Activation, Values> cases[] = {
      {schema::Activation::NONE, {-8, 8}},
      {schema::Activation::RELU, {0, 8}},
      {schema::Activation::RELU_N1_TO_1, {-1, 1}},
      {schema::Activation::RELU6, {0, 6}}};
  for (const auto& [activation, wanted] : cases) {
    ModelBuilder b;
    schema::AddOptionsT options;
    options.fused_activation_function = activation;
    const int x = b.Floats({2}, {-4, 4});
    EXPECT_EQ(RunOp(b, BuiltinOperator::ADD, {x, x}, options), wanted);
  }
}

schema::Conv2DOptionsT Conv(Padding padding, int stride, int dilation = 1) {
  schema::Conv2DOptionsT options;
  options.padding = padding;
  options.stride_w = stride;
  options.stride_h = 1;
  options.dilation_w_factor = dilation;
  return options;
}

TEST(Values, OddPaddingGoesBehind) {
  ModelBuilder b;
  const int x = b.Floats({1, 1, 4, 1}, {1, 2, 3, 4}), w = b.Floats({1, 1, 3, 1}, {1, 1, 1});
  EXPECT_THAT(RunOp(b, BuiltinOperator::CONV_2D, {x, w}, Conv(Padding::SAME, 2)),
              ElementsAre(6, 7));
}

TEST(Values, DilatedConvolution) {
  ModelBuilder b;
  const int x = b.Floats({1, 1, 4, 1}, {1, 2, 3, 4}), w = b.Floats({1, 1, 2, 1}, {1, 10});
  EXPECT_THAT(RunOp(b, BuiltinOperator::CONV_2D, {x, w}, Conv(Padding::VALID, 1, 2)),
              ElementsAre(31, 42));
}

TEST(Values, GroupedConvolution) {
  ModelBuilder b;
  const int x = b.Floats({1, 1, 1, 2}, {2, 3}), w = b.Floats({2, 1, 1, 1}, {10, 100});
  EXPECT_THAT(RunOp(b, BuiltinOperator::CONV_2D, {x, w}, Conv(Padding::VALID, 1)),
              ElementsAre(20, 300));
}

TEST(Values, DepthMultiplier) {
  ModelBuilder b;
  const int x = b.Floats({1, 1, 1, 2}, {2, 3}), w = b.Floats({1, 1, 1, 4}, {1, 10, 100, 1000});
  schema::DepthwiseConv2DOptionsT options;
  options.stride_w = options.stride_h = 1;
  EXPECT_THAT(
      RunOp(b, BuiltinOperator::DEPTHWISE_CONV_2D, {x, w, b.Floats({4}, {1, 1, 1, 1})}, options),
      ElementsAre(3, 21, 301, 3001));
}

TEST(Values, TransposedConvolution) {
  for (const auto& [padding, width, wanted] :
       {std::make_tuple(Padding::SAME, 4, Values{1, 10, 102, 20}),
        std::make_tuple(Padding::VALID, 5, Values{1, 10, 102, 20, 200}),
        std::make_tuple(Padding::VALID, 6, Values{1, 10, 102, 20, 200, 0})}) {
    ModelBuilder b;
    const int out = b.Ints({1, 1, width, 1}), x = b.Floats({1, 1, 2, 1}, {1, 2});
    const int w = b.Floats({1, 1, 3, 1}, {1, 10, 100});
    schema::TransposeConvOptionsT options;
    options.padding = padding;
    options.stride_w = 2;
    options.stride_h = 1;
    EXPECT_EQ(RunOp(b, BuiltinOperator::TRANSPOSE_CONV, {out, w, x}, options), wanted);
  }
}

TEST(Values, Pools) {
  const std::pair<BuiltinOperator, Values> cases[] = {
      {BuiltinOperator::AVERAGE_POOL_2D, {2, 3}},  // padding does not count
      {BuiltinOperator::MAX_POOL_2D, {3, 3}},
      {BuiltinOperator::L2_POOL_2D, {std::sqrt(5.0), 3}}};
  for (const auto& [code, wanted] : cases) {
    ModelBuilder b;
    schema::Pool2DOptionsT options;
    options.stride_w = options.filter_width = 2;
    options.stride_h = options.filter_height = 1;
    const Values values = RunOp(b, code, {b.Floats({1, 1, 3, 1}, {1, 3, 3})}, options);
    EXPECT_THAT(values, testing::Pointwise(testing::FloatEq(), wanted));
  }
}

TEST(Values, Resize) {
  schema::ResizeNearestNeighborOptionsT nearest;
  ModelBuilder a;
  EXPECT_THAT(RunOp(a, BuiltinOperator::RESIZE_NEAREST_NEIGHBOR,
                    {a.Floats({1, 1, 2, 1}, {1, 3}), a.Ints({1, 4})}, nearest),
              ElementsAre(1, 1, 3, 3));
  schema::ResizeBilinearOptionsT linear;
  ModelBuilder b;
  EXPECT_THAT(RunOp(b, BuiltinOperator::RESIZE_BILINEAR,
                    {b.Floats({1, 1, 2, 1}, {1, 3}), b.Ints({1, 4})}, linear),
              ElementsAre(1, 2, 3, 3));
  linear.half_pixel_centers = true;
  ModelBuilder c;
  EXPECT_THAT(RunOp(c, BuiltinOperator::RESIZE_BILINEAR,
                    {c.Floats({1, 1, 2, 1}, {1, 3}), c.Ints({1, 4})}, linear),
              ElementsAre(1, 1.5, 2.5, 3));
}

TEST(Values, SpaceToBatchAndBack) {
  ModelBuilder b;
  const int x = b.Floats({1, 3, 1}, {1, 2, 3}), block = b.Ints({2});
  const int pads = b.Constant<int32_t>({1, 2}, Type::INT32, {0, 1});
  const int batches = b.Op(BuiltinOperator::SPACE_TO_BATCH_ND, {x, block, pads}, "s", {});
  b.Output(batches);
  b.Output(b.Op(BuiltinOperator::BATCH_TO_SPACE_ND, {batches, block, pads}, "y", {}));
  EXPECT_THAT(Compute(b), ElementsAre(1, 3, 2, 0, 1, 2, 3));
}

TEST(Values, BatchMatMul) {
  ModelBuilder b;
  schema::BatchMatMulOptionsT options;
  options.adj_y = true;
  const int x = b.Floats({2, 1, 2}, {1, 2, 3, 4}), y = b.Floats({1, 2}, {10, 1});
  EXPECT_THAT(RunOp(b, BuiltinOperator::BATCH_MATMUL, {x, y}, options), ElementsAre(12, 34));
}

TEST(Values, StridedSlice) {
  struct Row {
    std::vector<int32_t> begin, end, strides;
    int begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
    Values wanted;
  };
  const Row rows[] = {
      {{1, 0}, {2, 3}, {1, 1}, 0, 0, 0, 0, 1, {4, 5, 6}},
      {{0, 0}, {1, 0}, {1, -1}, 2, 2, 0, 0, 0, {3, 2, 1}},
      {{0, -1}, {2, 0}, {1, 1}, 0, 0, 0, 0, 2, {3, 6}},
      {{0, 1}, {0, 2}, {1, 1}, 0, 0, 1, 0, 0, {2, 5}},
      {{0, 1, 0}, {0, 2, 9}, {1, 1, 2}, 0, 0, 0, 1, 0, {4, 6}},
  };
  for (const Row& row : rows) {
    ModelBuilder b;
    schema::StridedSliceOptionsT options;
    options.begin_mask = row.begin_mask;
    options.end_mask = row.end_mask;
    options.ellipsis_mask = row.ellipsis_mask;
    options.new_axis_mask = row.new_axis_mask;
    options.shrink_axis_mask = row.shrink_axis_mask;
    const int x = b.Floats({2, 3}, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(RunOp(b, BuiltinOperator::STRIDED_SLICE,
                    {x, b.Ints(row.begin), b.Ints(row.end), b.Ints(row.strides)}, options),
              row.wanted);
  }
}

TEST(Values, Parts) {
  ModelBuilder b;
  const int x = b.Floats({3}, {1, 2, 3}), axis = b.Constant<int32_t>({}, Type::INT32, {0});
  const int first = b.Add("a", {}), second = b.Add("b", {});
  b.AddOperator(BuiltinOperator::SPLIT_V, {x, b.Ints({2, -1}), axis}, {first, second});
  b.Output(second);
  const int u = b.Add("u", {}), v = b.Add("v", {});
  schema::UnpackOptionsT unpack;
  b.AddOperator(BuiltinOperator::UNPACK, {first}, {u, v}, unpack);
  schema::PackOptionsT pack;
  b.Output(b.Op(BuiltinOperator::PACK, {v, u}, "y", {}, pack));
  EXPECT_THAT(Compute(b), ElementsAre(3, 2, 1));
}

TEST(Values, Gathers) {
  ModelBuilder b;
  schema::GatherOptionsT options;
  options.axis = 1;
  options.batch_dims = 1;
  const int x = b.Floats({2, 2}, {1, 2, 3, 4});
  const int places = b.Constant<int32_t>({2, 1}, Type::INT32, {1, 0});
  b.Output(b.Op(BuiltinOperator::GATHER, {x, places}, "g", {}, options));
  const int both = b.Constant<int32_t>({2, 2}, Type::INT32, {0, 1, 1, 1});
  b.Output(b.Op(BuiltinOperator::GATHER_ND, {x, both}, "n", {}));
  b.Output(b.Op(BuiltinOperator::EMBEDDING_LOOKUP, {b.Ints({1}), x}, "e", {}));
  EXPECT_THAT(Compute(b), ElementsAre(2, 3, 2, 4, 3, 4));
}

TEST(Values, UpdatesAPartThatMovesBackFromTheEnd) {
  ModelBuilder b;
  const int x = b.Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const int row = b.Floats({1, 2}, {7, 8}), one = b.Floats({2, 1}, {7, 8});
  b.Output(b.Op(BuiltinOperator::DYNAMIC_UPDATE_SLICE, {x, row, b.Ints({1, 0})}, "row", {}));
  b.Output(b.Op(BuiltinOperator::DYNAMIC_UPDATE_SLICE, {x, one, b.Ints({9, -1})}, "one", {}));
  b.Output(b.Op(BuiltinOperator::DYNAMIC_UPDATE_SLICE, {x, x, b.Ints({1, 1})}, "all", {}));
  EXPECT_THAT(Compute(b), ElementsAre(1, 2, 7, 8, 5, 6, 1, 2, 7, 4, 8, 6, 1, 2, 3, 4, 5, 6));
}

TEST(Values, WhereListsPlaces) {
  ModelBuilder b;
  const int x = b.Constant<uint8_t>({2, 2}, Type::BOOL, {0, 1, 1, 0});
  EXPECT_THAT(RunOp(b, BuiltinOperator::WHERE, {x}, Type::INT64), ElementsAre(0, 1, 1, 0));
}

TEST(Values, SelectChoosesRows) {
  ModelBuilder b;
  const int condition = b.Constant<uint8_t>({2}, Type::BOOL, {1, 0});
  const int x = b.Floats({2, 2}, {1, 2, 3, 4}), y = b.Floats({2, 2}, {5, 6, 7, 8});
  EXPECT_THAT(RunOp(b, BuiltinOperator::SELECT, {condition, x, y}), ElementsAre(1, 2, 7, 8));
}

TEST(Values, Reductions) {
  ModelBuilder b;
  const int x = b.Floats({2, 2}, {1, 2, 3, 6});
  b.Output(b.Op(BuiltinOperator::MEAN, {x, b.Ints({-1, 1})}, "m", {}));
  b.Output(b.Op(BuiltinOperator::ARG_MAX, {x, b.Ints({0})}, "a", {}, Type::INT64));
  schema::CumsumOptionsT options;
  options.reverse = true;
  b.Output(b.Op(BuiltinOperator::CUMSUM, {x, b.Ints({1})}, "c", {}, options));
  EXPECT_THAT(Compute(b), ElementsAre(1.5, 4.5, 1, 1, 3, 2, 9, 6));
}

TEST(Values, Elementwise) {
  const std::tuple<BuiltinOperator, std::vector<float>, Values> cases[] = {
      {BuiltinOperator::ROUND, {0.5, 1.5, -2.5, 2.4}, {0, 2, -2, 2}},
      {BuiltinOperator::HARD_SWISH, {-4, 0, 3, 6}, {0, 0, 3, 6}},
      {BuiltinOperator::L2_NORMALIZATION, {3, 4}, {0.6, 0.8}},
      {BuiltinOperator::ELU, {-1, 2}, {std::exp(-1.0) - 1, 2}},
      {BuiltinOperator::SQUARE, {-3, 2}, {9, 4}},
  };
  for (const auto& [code, x, wanted] : cases) {
    ModelBuilder b;
    const Values values = RunOp(b, code, {b.Floats({static_cast<int>(x.size())}, x)});
    EXPECT_THAT(values, testing::Pointwise(testing::DoubleNear(1e-6), wanted));
  }
}

TEST(Values, SoftmaxHasATemperature) {
  ModelBuilder b;
  schema::SoftmaxOptionsT options;
  options.beta = 2;
  const Values values = RunOp(b, BuiltinOperator::SOFTMAX, {b.Floats({1, 2}, {0, 1})}, options);
  const double e = std::exp(2.0);
  EXPECT_THAT(values,
              testing::Pointwise(testing::DoubleNear(1e-6), Values{1 / (1 + e), e / (1 + e)}));
}

TEST(Values, DequantizedWeights) {
  ModelBuilder b;
  const int x = b.Constant<int8_t>({2, 2}, Type::INT8, {1, 2, 3, -4});
  b.Quantize(x, {0.5, 2}, {0, 1}, 0);
  b.Output(b.Op(BuiltinOperator::DEQUANTIZE, {x}, "y", {}));
  const int h = b.Constant<uint16_t>({2}, Type::FLOAT16, {0x3C00, 0xC000});
  b.Output(b.Op(BuiltinOperator::DEQUANTIZE, {h}, "z", {}));
  EXPECT_THAT(Compute(b), ElementsAre(0.5, 1, 4, -10, 1, -2));
}

// ((0, 5, 0), (7, 0, 8)) by rows. `values` are the nonzero elements of each row.
template <typename T>
int SparseMatrix(ModelBuilder& b, Type type, const std::vector<T>& values) {
  const int x = b.Constant<T>({2, 3}, type, values);
  auto sparsity = std::make_unique<schema::SparsityParametersT>();
  sparsity->traversal_order = {0, 1};
  auto rows = std::make_unique<schema::DimensionMetadataT>();
  rows->dense_size = 2;
  auto columns = std::make_unique<schema::DimensionMetadataT>();
  columns->format = schema::DimensionFormat::SPARSE_CSR;
  schema::Int32VectorT segments;
  segments.values = {0, 1, 3};
  schema::Uint8VectorT indices;
  indices.values = {1, 0, 2};
  columns->array_segments.Set(std::move(segments));
  columns->array_indices.Set(std::move(indices));
  sparsity->dim_metadata.push_back(std::move(rows));
  sparsity->dim_metadata.push_back(std::move(columns));
  b.tensor(x).sparsity = std::move(sparsity);
  return x;
}

TEST(Values, SparseConstants) {
  ModelBuilder b;
  b.Output(SparseMatrix<float>(b, Type::FLOAT32, {5, 7, 8}));
  EXPECT_THAT(Compute(b), ElementsAre(0, 5, 0, 7, 0, 8));
}

TEST(Values, DensifiedConstants) {
  ModelBuilder b;
  const int x = SparseMatrix<float>(b, Type::FLOAT32, {5, 7, 8});
  const int dense = b.Op(BuiltinOperator::DENSIFY, {x}, "dense", {2, 3});
  EXPECT_THAT(
      RunOp(b, BuiltinOperator::FULLY_CONNECTED, {b.Floats({1, 3}, {1, 10, 100}), dense, -1}),
      ElementsAre(50, 807));
}

// Converters store weights this way: as float16, or int8 with a scale.
TEST(Values, DensifiedConstantsOfOtherTypes) {
  ModelBuilder b;
  const int h = SparseMatrix<uint16_t>(b, Type::FLOAT16, {0x3C00, 0xC000, 0x4000});
  const int dense = b.Op(BuiltinOperator::DENSIFY, {h}, "dense", {2, 3}, Type::FLOAT16);
  b.Output(b.Op(BuiltinOperator::DEQUANTIZE, {dense}, "floats", {2, 3}));
  const int q = SparseMatrix<int8_t>(b, Type::INT8, {5, -7, 8});
  const int bytes = b.Op(BuiltinOperator::DENSIFY, {q}, "bytes", {2, 3}, Type::INT8);
  for (int tensor : {q, bytes}) b.Quantize(tensor, {0.5}, {0});
  b.Output(bytes);
  EXPECT_THAT(Compute(b), ElementsAre(0, 1, 0, -2, 0, 2, 0, 5, 0, -7, 0, 8));
}

}  // namespace
}  // namespace kiln::tflite_frontend
