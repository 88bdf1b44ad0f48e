// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/frontend/tflite/schema_generated.h"
#include "tests/fuzz/seeds.h"

namespace kiln::fuzz {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using tflite_frontend::ModelBuilder;
using Type = ModelBuilder::Type;

schema::Conv2DOptionsT Convolution() {
  schema::Conv2DOptionsT options;
  options.stride_h = options.stride_w = 1;
  return options;
}
schema::Pool2DOptionsT Pooling() {
  schema::Pool2DOptionsT options;
  options.stride_h = options.stride_w = options.filter_height = options.filter_width = 2;
  return options;
}

std::vector<float> Halves(int count) {
  return std::vector<float>(static_cast<size_t>(count), 0.5F);
}

std::string TfliteFloats() {
  ModelBuilder b;
  int x = b.Input("x", {1, 4, 4, 2});
  x = b.Op(BuiltinOperator::CONV_2D,
           {x, b.Floats({4, 3, 3, 2}, Halves(72)), b.Floats({4}, Halves(4))}, "conv", {},
           Convolution());
  schema::DepthwiseConv2DOptionsT depthwise;
  depthwise.stride_h = depthwise.stride_w = 2;
  depthwise.fused_activation_function = schema::Activation::RELU6;
  const int sum = b.Op(BuiltinOperator::DEPTHWISE_CONV_2D,
                       {x, b.Floats({1, 2, 2, 4}, Halves(16)), -1}, "depthwise", {}, depthwise);
  x = b.Op(BuiltinOperator::AVERAGE_POOL_2D, {x}, "average", {}, Pooling());
  x = b.Op(BuiltinOperator::ADD, {x, sum}, "added", {}, schema::AddOptionsT());
  schema::TransposeConvOptionsT transposed;
  transposed.stride_h = transposed.stride_w = 2;
  x = b.Op(BuiltinOperator::TRANSPOSE_CONV,
           {b.Ints({1, 4, 4, 2}), b.Floats({2, 2, 2, 4}, Halves(32)), x}, "up", {}, transposed);
  x = b.Op(BuiltinOperator::RESIZE_BILINEAR, {x, b.Ints({3, 5})}, "resized", {},
           schema::ResizeBilinearOptionsT());
  schema::ReducerOptionsT keep;
  keep.keep_dims = true;
  x = b.Op(BuiltinOperator::MEAN, {x, b.Ints({1, 2})}, "mean", {}, keep);
  x = b.Op(BuiltinOperator::RESHAPE, {x, b.Ints({1, -1})}, "flat", {});
  x = b.Op(BuiltinOperator::FULLY_CONNECTED,
           {x, b.Floats({3, 2}, Halves(6)), b.Floats({3}, Halves(3))}, "dense", {},
           schema::FullyConnectedOptionsT());
  schema::SoftmaxOptionsT softmax;
  softmax.beta = 1;
  b.Output(b.Op(BuiltinOperator::SOFTMAX, {x}, "y", {}, softmax));
  return b.Bytes();
}

// Operators without options, each applied to the input.
std::string TfliteElementwise() {
  ModelBuilder b;
  const int x = b.Input("x", {2, 2});
  for (const BuiltinOperator op : {BuiltinOperator::ABS,        BuiltinOperator::CEIL,
                                   BuiltinOperator::COS,        BuiltinOperator::ELU,
                                   BuiltinOperator::EXP,        BuiltinOperator::FLOOR,
                                   BuiltinOperator::HARD_SWISH, BuiltinOperator::LOG,
                                   BuiltinOperator::LOGISTIC,   BuiltinOperator::LOG_SOFTMAX,
                                   BuiltinOperator::NEG,        BuiltinOperator::RELU,
                                   BuiltinOperator::ROUND,      BuiltinOperator::RSQRT,
                                   BuiltinOperator::SIGN,       BuiltinOperator::SIN,
                                   BuiltinOperator::SQRT,       BuiltinOperator::SQUARE,
                                   BuiltinOperator::TANH,       BuiltinOperator::L2_NORMALIZATION,
                                   BuiltinOperator::ZEROS_LIKE}) {
    b.Output(b.Op(op, {x}, schema::EnumNameBuiltinOperator(op), {}));
  }
  for (const BuiltinOperator op :
       {BuiltinOperator::MAXIMUM, BuiltinOperator::MINIMUM, BuiltinOperator::POW,
        BuiltinOperator::SQUARED_DIFFERENCE, BuiltinOperator::FLOOR_DIV, BuiltinOperator::FLOOR_MOD,
        BuiltinOperator::PRELU, BuiltinOperator::ADD_N}) {
    b.Output(b.Op(op, {x, op == BuiltinOperator::PRELU ? b.Floats({2}, {1, 2}) : x},
                  schema::EnumNameBuiltinOperator(op), {}));
  }
  const int less = b.Op(BuiltinOperator::LESS, {x, x}, "less", {}, Type::BOOL);
  b.Output(b.Op(BuiltinOperator::SELECT_V2, {less, x, x}, "selected", {}));
  return b.Bytes();
}

std::string TfliteQuantized() {
  ModelBuilder b;
  const auto quantised = [&](int tensor, float scale, int64_t zero) {
    b.Quantize(tensor, {scale}, {zero});
    return tensor;
  };
  const auto op = [&](BuiltinOperator code, std::vector<int> inputs, const char* name, float scale,
                      int64_t zero, auto options) {
    return quantised(b.Op(code, std::move(inputs), name, {}, options, Type::INT8), scale, zero);
  };
  const int f = b.Input("x", {1, 4, 4, 2});
  int x = quantised(b.Op(BuiltinOperator::QUANTIZE, {f}, "q", {}, Type::INT8), 0.1F, -3);
  const int w = b.Constant<int8_t>({2, 2, 2, 2}, Type::INT8, std::vector<int8_t>(16, 7));
  b.Quantize(w, {0.5F, 0.25F}, {0, 0});
  const int bias = b.Constant<int32_t>({2}, Type::INT32, {100, -5});
  b.Quantize(bias, {0.05F, 0.025F}, {0, 0});
  const int conv = op(BuiltinOperator::CONV_2D, {x, w, bias}, "conv", 0.3F, 4, Convolution());
  const int d =
      quantised(b.Constant<int8_t>({1, 2, 2, 2}, Type::INT8, std::vector<int8_t>(8, 3)), 0.5F, 0);
  schema::DepthwiseConv2DOptionsT depthwise;
  depthwise.stride_h = depthwise.stride_w = 1;
  const int dw = op(BuiltinOperator::DEPTHWISE_CONV_2D, {x, d, -1}, "dw", 0.2F, 0, depthwise);
  x = op(BuiltinOperator::ADD, {conv, dw}, "sum", 0.4F, 1, schema::AddOptionsT());
  x = op(BuiltinOperator::MUL, {x, conv}, "product", 0.4F, 1, schema::MulOptionsT());
  x = op(BuiltinOperator::AVERAGE_POOL_2D, {x}, "pool", 0.4F, 1, Pooling());
  schema::ConcatenationOptionsT concatenation;
  concatenation.axis = 3;
  x = op(BuiltinOperator::CONCATENATION, {x, x}, "both", 0.4F, 1, concatenation);
  b.Output(quantised(b.Op(BuiltinOperator::LOGISTIC, {x}, "logistic", {}, Type::INT8), 1.0F / 256,
                     -128));
  x = op(BuiltinOperator::MEAN, {x, b.Ints({1, 2})}, "mean", 0.1F, 0, schema::ReducerOptionsT());
  const int v =
      quantised(b.Constant<int8_t>({3, 4}, Type::INT8, std::vector<int8_t>(12, -9)), 0.02F, 0);
  x = op(BuiltinOperator::FULLY_CONNECTED, {x, v, -1}, "dense", 0.3F, 2,
         schema::FullyConnectedOptionsT());
  schema::SoftmaxOptionsT softmax;
  softmax.beta = 1;
  x = op(BuiltinOperator::SOFTMAX, {x}, "softmax", 1.0F / 256, -128, softmax);
  b.Output(b.Op(BuiltinOperator::DEQUANTIZE, {x}, "y", {}));
  return b.Bytes();
}

std::string TfliteShapes() {
  ModelBuilder b;
  const int x = b.Input("x", {2, 3, 4});
  schema::StridedSliceOptionsT slice;
  slice.shrink_axis_mask = 1;
  b.Output(b.Op(BuiltinOperator::STRIDED_SLICE,
                {x, b.Ints({0, 0, 0}), b.Ints({1, 2, 4}), b.Ints({1, 1, 2})}, "strided", {},
                slice));
  b.Output(b.Op(BuiltinOperator::SLICE, {x, b.Ints({0, 1, 0}), b.Ints({1, -1, 2})}, "slice", {}));
  b.Output(b.Op(BuiltinOperator::TRANSPOSE, {x, b.Ints({2, 0, 1})}, "transposed", {}));
  b.Output(b.Op(BuiltinOperator::PAD,
                {x, b.Constant<int32_t>({3, 2}, Type::INT32, {0, 1, 1, 0, 0, 2})}, "padded", {}));
  b.Output(b.Op(BuiltinOperator::TILE, {x, b.Ints({1, 2, 1})}, "tiled", {}));
  b.Output(b.Op(BuiltinOperator::REVERSE_V2, {x, b.Ints({1})}, "reversed", {}));
  b.Output(b.Op(BuiltinOperator::BROADCAST_TO, {x, b.Ints({2, 2, 3, 4})}, "broad", {}));
  b.Output(b.Op(BuiltinOperator::EXPAND_DIMS, {x, b.Ints({0})}, "more", {}));
  b.Output(
      b.Op(BuiltinOperator::GATHER, {x, b.Ints({1, 0})}, "gathered", {}, schema::GatherOptionsT()));
  b.Output(b.Op(BuiltinOperator::GATHER_ND, {x, b.Constant<int32_t>({1, 2}, Type::INT32, {1, 2})},
                "nd", {}));
  b.Output(b.Op(BuiltinOperator::CUMSUM, {x, b.Ints({1})}, "sums", {}, schema::CumsumOptionsT()));
  schema::PackOptionsT pack;
  pack.values_count = 2;
  pack.axis = 1;
  b.Output(b.Op(BuiltinOperator::PACK, {x, x}, "packed", {}, pack));
  schema::BatchMatMulOptionsT product;
  product.adj_y = true;
  b.Output(b.Op(BuiltinOperator::BATCH_MATMUL, {x, x}, "product", {}, product));
  const int shape = b.Op(BuiltinOperator::SHAPE, {x}, "shape", {}, Type::INT32);
  b.Output(b.Op(BuiltinOperator::FILL, {shape, b.Constant<float>({}, Type::FLOAT32, {2})}, "filled",
                {}));
  b.Output(b.Op(BuiltinOperator::ARG_MAX, {x, b.Ints({2})}, "most", {}, Type::INT64));
  b.Output(
      b.Op(BuiltinOperator::RANGE,
           {b.Constant<int32_t>({}, Type::INT32, {0}), b.Constant<int32_t>({}, Type::INT32, {6}),
            b.Constant<int32_t>({}, Type::INT32, {2})},
           "range", {}, Type::INT32));
  const int parts = b.Add("p0", {});
  b.Add("p1", {});
  b.AddOperator(BuiltinOperator::SPLIT_V, {x, b.Ints({1, 2}), b.Ints({1})}, {parts, parts + 1});
  b.Output(parts);
  b.Output(parts + 1);
  return b.Bytes();
}

// Subgraphs, a variable, a state and a sparse constant.
std::string Kept() {
  ModelBuilder b;
  int x = b.Input("x", {1, 8});
  const int sparse = b.Floats({2, 8}, {5, 7, 8});
  auto sparsity = std::make_unique<schema::SparsityParametersT>();
  sparsity->traversal_order = {0, 1};
  for (int i = 0; i < 2; ++i)
    sparsity->dim_metadata.push_back(std::make_unique<schema::DimensionMetadataT>());
  sparsity->dim_metadata[0]->dense_size = 2;
  sparsity->dim_metadata[1]->format = schema::DimensionFormat::SPARSE_CSR;
  schema::Uint8VectorT segments, indices;
  segments.values = {0, 1, 3};
  indices.values = {1, 0, 2};
  sparsity->dim_metadata[1]->array_segments.Set(std::move(segments));
  sparsity->dim_metadata[1]->array_indices.Set(std::move(indices));
  b.tensor(sparse).sparsity = std::move(sparsity);
  x = b.Op(BuiltinOperator::FULLY_CONNECTED, {x, sparse, -1}, "dense", {},
           schema::FullyConnectedOptionsT());
  schema::SVDFOptionsT svdf;
  svdf.rank = 1;
  const int state = b.Add("state", {1, 4});
  b.tensor(state).is_variable = true;
  x = b.Op(BuiltinOperator::SVDF,
           {x, b.Floats({2, 2}, {1, 0, 0, 1}), b.Floats({2, 2}, {1, 1, 1, 1}), -1, state}, "svdf",
           {}, svdf);
  schema::IfOptionsT branch;
  branch.then_subgraph_index = branch.else_subgraph_index = 1;
  b.Output(
      b.Op(BuiltinOperator::IF, {b.Constant<uint8_t>({}, Type::BOOL, {1}), x}, "y", {}, branch));
  b.AddSubgraph();
  const int inner = b.Input("inner", {1, 2});
  schema::VarHandleOptionsT variable;
  variable.shared_name = "kept";
  const int handle = b.Op(BuiltinOperator::VAR_HANDLE, {}, "h", {}, variable, Type::RESOURCE);
  const int kept = b.Op(BuiltinOperator::READ_VARIABLE, {handle}, "r", {1, 2});
  const int sum = b.Op(BuiltinOperator::ADD, {kept, inner}, "sum", {}, schema::AddOptionsT());
  b.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {handle, sum}, {});
  b.Output(sum);
  return b.Bytes();
}

std::string TfliteRecurrent() {
  ModelBuilder b;
  const int x = b.Input("x", {1, 3, 2});
  std::vector<int> inputs = {x};
  for (int i = 0; i < 8; ++i) inputs.push_back(b.Floats({2, 2}, {1, 0, 0, 1}));
  for (int i = 0; i < 3; ++i) inputs.push_back(-1);
  for (int i = 0; i < 4; ++i) inputs.push_back(b.Floats({2}, {0, 1}));
  for (int i = 0; i < 2; ++i) inputs.push_back(-1);
  for (const char* name : {"output_state", "cell_state"}) {
    inputs.push_back(b.Add(name, {1, 2}));
    b.tensor(inputs.back()).is_variable = true;
  }
  for (int i = 0; i < 4; ++i) inputs.push_back(-1);
  schema::UnidirectionalSequenceLSTMOptionsT options;
  options.fused_activation_function = schema::Activation::TANH;
  b.Output(b.Op(BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, inputs, "y", {}, options));
  return b.Bytes();
}

}  // namespace

std::vector<Seed> TfliteSeeds() {
  return {{"tflite/elementwise.tflite", TfliteElementwise()},
          {"tflite/floats.tflite", TfliteFloats()},
          {"tflite/kept.tflite", Kept()},
          {"tflite/quantised.tflite", TfliteQuantized()},
          {"tflite/recurrent.tflite", TfliteRecurrent()},
          {"tflite/shapes.tflite", TfliteShapes()}};
}

}  // namespace kiln::fuzz
