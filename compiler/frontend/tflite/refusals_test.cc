// SPDX-License-Identifier: Apache-2.0
// Refusals of operators, and their error messages. Each model has one operator and one error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/frontend/tflite/refusal.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using ::testing::HasSubstr;
using Type = ModelBuilder::Type;

// Adds the operator `code` with a float result without shape.
void Result(ModelBuilder& b, BuiltinOperator code, std::vector<int> inputs) {
  b.Output(b.Op(code, std::move(inputs), "y", {}));
}
template <typename Options>
void Result(ModelBuilder& b, BuiltinOperator code, std::vector<int> inputs, Options options) {
  b.Output(b.Op(code, std::move(inputs), "y", {}, std::move(options)));
}

int Pairs(ModelBuilder& b, const std::vector<int32_t>& values) {
  return b.Constant({static_cast<int32_t>(values.size() / 2), 2}, Type::INT32, values);
}

void Convolve(ModelBuilder& b, ModelBuilder::Shape x, ModelBuilder::Shape w, int stride) {
  schema::Conv2DOptionsT options;
  options.stride_h = options.stride_w = stride;
  const int data = b.Input("x", std::move(x));
  Result(b, BuiltinOperator::CONV_2D, {data, b.Input("w", std::move(w))}, options);
}

void Transposed(ModelBuilder& b, const std::vector<int32_t>& shape) {
  schema::TransposeConvOptionsT options;
  options.stride_h = options.stride_w = 2;
  const int w = b.Input("w", {1, 3, 3, 2});
  Result(b, BuiltinOperator::TRANSPOSE_CONV, {b.Ints(shape), w, b.Input("x", {1, 4, 4, 2})},
         options);
}

void Connect(ModelBuilder& b, ModelBuilder::Shape x, ModelBuilder::Shape w,
             schema::FullyConnectedOptionsT options = {}) {
  const int data = b.Input("x", std::move(x));
  Result(b, BuiltinOperator::FULLY_CONNECTED, {data, b.Input("w", std::move(w))}, options);
}

void Multiply(ModelBuilder& b, ModelBuilder::Shape x, ModelBuilder::Shape w) {
  const int data = b.Input("x", std::move(x));
  Result(b, BuiltinOperator::BATCH_MATMUL, {data, b.Input("w", std::move(w))},
         schema::BatchMatMulOptionsT());
}

// Splits four numbers into one part of the given size.
void Part(ModelBuilder& b, int32_t size) {
  Result(b, BuiltinOperator::SPLIT_V,
         {b.Input("x", {4}), b.Ints({size}), b.Constant<int32_t>({}, Type::INT32, {0})});
}

void Slice(ModelBuilder& b, const std::vector<int32_t>& begin, const std::vector<int32_t>& size) {
  Result(b, BuiltinOperator::SLICE, {b.Input("x", {4}), b.Ints(begin), b.Ints(size)});
}

void StridedSlice(ModelBuilder& b, const std::vector<int32_t>& begin,
                  const std::vector<int32_t>& end, const std::vector<int32_t>& strides,
                  schema::StridedSliceOptionsT options = {}) {
  Result(b, BuiltinOperator::STRIDED_SLICE,
         {b.Input("x", {4}), b.Ints(begin), b.Ints(end), b.Ints(strides)}, options);
}

void Update(ModelBuilder& b, ModelBuilder::Shape part, ModelBuilder::Shape start) {
  const int x = b.Input("x", {4, 4}), update = b.Input("u", std::move(part));
  Result(b, BuiltinOperator::DYNAMIC_UPDATE_SLICE,
         {x, update, b.Input("s", std::move(start), Type::INT32)});
}

void ToBatch(ModelBuilder& b, const std::vector<int32_t>& block, const std::vector<int32_t>& pads) {
  Result(b, BuiltinOperator::SPACE_TO_BATCH_ND,
         {b.Input("x", {1, 4, 4, 1}), b.Ints(block), Pairs(b, pads)});
}

void ToSpace(ModelBuilder& b, int32_t batch, const std::vector<int32_t>& crops) {
  Result(b, BuiltinOperator::BATCH_TO_SPACE_ND,
         {b.Input("x", {batch, 2, 2, 1}), b.Ints({2, 2}), Pairs(b, crops)});
}

// Adds an integer operator with one input that has these scales.
void Quantised(ModelBuilder& b, BuiltinOperator code, Type type, std::vector<float> scales,
               float out_scale = 0.5) {
  const auto n = static_cast<int32_t>(scales.size());
  const int x = b.Input("x", {n}, type), y = b.Op(code, {x}, "y", {n}, type);
  b.Quantize(x, std::move(scales), std::vector<int64_t>(static_cast<size_t>(n), 0));
  b.Quantize(y, {out_scale}, {0});
  b.Output(y);
}

void Product(ModelBuilder& b, Type type, std::vector<float> scales, int64_t zero_point) {
  const auto n = static_cast<int32_t>(scales.size());
  const int x = b.Input("x", {n, 2}, type), w = b.Input("w", {2, 2}, type);
  const int y =
      b.Op(BuiltinOperator::BATCH_MATMUL, {x, w}, "y", {n, 2}, schema::BatchMatMulOptionsT(), type);
  b.Quantize(x, std::move(scales), std::vector<int64_t>(static_cast<size_t>(n), zero_point));
  b.Quantize(w, {0.5}, {0});
  b.Quantize(y, {0.5}, {0});
  b.Output(y);
}

// Adds a CALL_ONCE and begins the initializing subgraph.
void CallOnce(ModelBuilder& b, int subgraph) {
  schema::CallOnceOptionsT once;
  once.init_subgraph_index = subgraph;
  b.AddOperator(BuiltinOperator::CALL_ONCE, {}, {}, once);
  b.AddSubgraph();
}

const Refusal kRefusals[] = {
    {"ReshapeToANegativeExtent",
     [](ModelBuilder& b) {
       Result(b, BuiltinOperator::RESHAPE, {b.Input("x", {4}), b.Ints({-2, 2})});
     },
     "the shape: found (-2, 2), wanted extents, or -1"},
    {"ReshapeToAMatrix",
     [](ModelBuilder& b) {
       Result(b, BuiltinOperator::RESHAPE, {b.Input("x", {4}), Pairs(b, {2, 2})});
     },
     "the shape: found Tensor[(1, 2), int32], wanted a vector of integers"},
    {"ShapesThatDoNotBroadcast",
     [](ModelBuilder& b) {
       Result(b, BuiltinOperator::BROADCAST_ARGS, {b.Ints({2, 3}), b.Ints({4})});
     },
     "shapes: found (2, 3) and (1, 4), wanted ones that broadcast"},
    {"PaddingOfAnotherRank",
     [](ModelBuilder& b) {
       Result(b, BuiltinOperator::PAD, {b.Input("x", {2, 2}), Pairs(b, {1, 1})});
     },
     "the padding: found Tensor[(1, 2), int32], wanted integers (2, 2)"},
    {"BlockOfAllDimensions", [](ModelBuilder& b) { ToBatch(b, {2, 2, 2, 2}, {0, 0}); },
     "block and pairs: found 4 dimensions and Tensor[(1, 2), int32] for rank 4"},
    {"BlockOfNothing", [](ModelBuilder& b) { ToBatch(b, {0, 1}, {0, 0, 0, 0}); },
     "a block: found 0, wanted 1 to 2^24"},
    {"BlocksThatDoNotDivide", [](ModelBuilder& b) { ToBatch(b, {3, 1}, {0, 0, 0, 0}); },
     "padded data: found (1, 4, 4, 1), wanted multiples of 3"},
    {"BatchThatBlocksDoNotDivide", [](ModelBuilder& b) { ToSpace(b, 3, {0, 0, 0, 0}); },
     "data: found (3, 2, 2, 1), wanted a batch that the blocks divide"},
    {"CropsOfMoreThanThereIs", [](ModelBuilder& b) { ToSpace(b, 4, {3, 2, 0, 0}); },
     "crops: found 3 and 2, wanted 0 to 4 together"},
    {"ConvolutionOfRank3", [](ModelBuilder& b) { Convolve(b, {4, 4, 1}, {1, 1, 1, 1}, 1); },
     "data: found Tensor[(4, 4, 1), float32], wanted rank 4"},
    {"WeightOfRank3", [](ModelBuilder& b) { Convolve(b, {1, 4, 4, 1}, {1, 1, 1}, 1); },
     "weight: found Tensor[(1, 1, 1), float32], wanted rank 4"},
    {"WeightOfOtherChannels", [](ModelBuilder& b) { Convolve(b, {1, 4, 4, 3}, {1, 1, 1, 2}, 1); },
     "wanted (outputs, height, width, a divisor of 3 channels)"},
    {"StrideOfNothing", [](ModelBuilder& b) { Convolve(b, {1, 4, 4, 1}, {1, 1, 1, 1}, 0); },
     "window, strides and dilation: found 0, wanted 1 to 16777216"},
    {"PaddingOfNoKind",
     [](ModelBuilder& b) {
       schema::Conv2DOptionsT options;
       options.stride_h = options.stride_w = 1;
       options.padding = static_cast<schema::Padding>(7);
       const int x = b.Input("x", {1, 4, 4, 1});
       Result(b, BuiltinOperator::CONV_2D, {x, b.Input("w", {1, 1, 1, 1})}, options);
     },
     "padding: found 7, wanted SAME or VALID"},
    {"DepthwiseWeightOfOtherChannels",
     [](ModelBuilder& b) {
       schema::DepthwiseConv2DOptionsT options;
       options.stride_h = options.stride_w = 1;
       const int x = b.Input("x", {1, 4, 4, 3});
       Result(b, BuiltinOperator::DEPTHWISE_CONV_2D, {x, b.Input("w", {1, 1, 1, 2})}, options);
     },
     "wanted (1, height, width, a multiple of 3 channels)"},
    {"TransposedToAnotherBatch", [](ModelBuilder& b) { Transposed(b, {2, 8, 8, 1}); },
     "the shape of the result: found (2, 8, 8, 1), wanted (1, height, width, 1)"},
    {"TransposedToMoreThanWindowsReach", [](ModelBuilder& b) { Transposed(b, {1, 99, 8, 1}); },
     "found (1, 99, 8, 1), wanted what the windows reach"},
    {"ShuffledWeights",
     [](ModelBuilder& b) {
       schema::FullyConnectedOptionsT options;
       options.weights_format = schema::WeightsFormat::SHUFFLED4x16INT8;
       Connect(b, {1, 4}, {2, 4}, options);
     },
     "shuffled weights"},
    {"WeightOfRank1", [](ModelBuilder& b) { Connect(b, {1, 4}, {4}); },
     "weight: found Tensor[(4,), float32], wanted (units, inputs)"},
    {"DataOfOtherRows", [](ModelBuilder& b) { Connect(b, {1, 5}, {2, 4}); },
     "data: found Tensor[(1, 5), float32], wanted rows of 4 numbers"},
    {"NormalisationOverTooMuch",
     [](ModelBuilder& b) {
       schema::LocalResponseNormalizationOptionsT options;
       options.radius = -1;
       Result(b, BuiltinOperator::LOCAL_RESPONSE_NORMALIZATION, {b.Input("x", {1, 1, 1, 2})},
              options);
     },
     "radius: found -1, wanted 0 to 1048576"},
    {"PartsOfAnotherNumber",
     [](ModelBuilder& b) {
       Result(b, BuiltinOperator::SPLIT_V,
              {b.Input("x", {4}), b.Ints({2, 2}), b.Constant<int32_t>({}, Type::INT32, {0})});
     },
     "sizes: found 2, wanted 1 of them"},
    {"PartOfMoreThanThereIs", [](ModelBuilder& b) { Part(b, 5); },
     "sizes: found [5], wanted ones that add up to 4"},
    {"PartOfLessThanThereIs", [](ModelBuilder& b) { Part(b, 3); },
     "sizes: found [3], wanted ones that add up to 4"},
    {"EqualPartsThatDoNotDivide",
     [](ModelBuilder& b) {
       const int axis = b.Constant<int32_t>({}, Type::INT32, {0}), y = b.Add("y", {1});
       b.AddOperator(BuiltinOperator::SPLIT, {axis, b.Input("x", {3})}, {y, b.Add("z", {1})});
       b.Output(y);
     },
     "outputs: found 2, wanted a divisor of 3"},
    {"ProductOfVectors", [](ModelBuilder& b) { Multiply(b, {2}, {2, 1}); },
     "operands: found Tensor[(2,), float32] and Tensor[(2, 1), float32], wanted matrices"},
    {"BatchesThatDoNotBroadcast", [](ModelBuilder& b) { Multiply(b, {2, 1, 1}, {3, 1, 1}); },
     "found (2, 1, 1) and (3, 1, 1), wanted batches that broadcast"},
    {"UnpackedToOneOfFour",
     [](ModelBuilder& b) {
       Result(b, BuiltinOperator::UNPACK, {b.Input("x", {4})}, schema::UnpackOptionsT());
     },
     "outputs: found 1, wanted 4"},
    {"SliceOfOtherDimensions", [](ModelBuilder& b) { Slice(b, {0, 0}, {1, 1}); },
     "begin and size: found 2 and 2 numbers, wanted 1 of each"},
    {"SliceBehindTheEnd", [](ModelBuilder& b) { Slice(b, {3}, {2}); },
     "dimension 0: found begin 3, size 2, wanted a part of 4"},
    {"StridesOfAnotherNumber", [](ModelBuilder& b) { StridedSlice(b, {0}, {4}, {1, 1}); },
     "begin, end and strides: found 1, 1 and 2 numbers, wanted as many of each"},
    {"SliceFromAnIndexOfNoTensor",
     [](ModelBuilder& b) {
       const int begin = b.Constant<int64_t>({1}, Type::INT64, {int64_t{1} << 40});
       Result(b, BuiltinOperator::STRIDED_SLICE,
              {b.Input("x", {4}), begin, b.Ints({4}), b.Ints({1})}, schema::StridedSliceOptionsT());
     },
     "an index: found 1099511627776, wanted one within the limits of a tensor"},
    {"StrideOfZero", [](ModelBuilder& b) { StridedSlice(b, {0}, {4}, {0}); },
     "strides: found 0, wanted another number"},
    {"SliceOfTwoDimensionsOfOne", [](ModelBuilder& b) { StridedSlice(b, {0, 0}, {1, 1}, {1, 1}); },
     "begin: found 2 dimensions, wanted 1"},
    {"TwoEllipses",
     [](ModelBuilder& b) {
       schema::StridedSliceOptionsT options;
       options.ellipsis_mask = 3;
       StridedSlice(b, {0, 0}, {0, 0}, {1, 1}, options);
     },
     "ellipses: found two, wanted at most one"},
    {"IndexBehindTheEnd",
     [](ModelBuilder& b) {
       schema::StridedSliceOptionsT options;
       options.shrink_axis_mask = 1;
       StridedSlice(b, {4}, {5}, {1}, options);
     },
     "the index of dimension 0: found 4, wanted -4 to 3"},
    {"IndicesWithoutADimension",
     [](ModelBuilder& b) {
       const int x = b.Input("x", {4});
       Result(b, BuiltinOperator::GATHER_ND, {x, b.Input("i", {}, Type::INT32)});
     },
     "indices: found int32, wanted rank 1 or more"},
    {"UpdateOfMoreThanThereIs", [](ModelBuilder& b) { Update(b, {5, 1}, {2}); },
     "update: found (5, 1), wanted no larger than (4, 4)"},
    {"UpdateAtOneIndexOfTwo", [](ModelBuilder& b) { Update(b, {2, 2}, {1}); },
     "wanted one for each of 2 dimensions"},
    {"ConditionOfInputs",
     [](ModelBuilder& b) { Result(b, BuiltinOperator::WHERE, {b.Input("c", {4}, Type::BOOL)}); },
     "the condition (input 'c') is computed from the model's inputs"},
    {"BoundOfInputs",
     [](ModelBuilder& b) {
       const int end = b.Input("end", {}, Type::INT32);
       const int one = b.Constant<int32_t>({}, Type::INT32, {1});
       Result(b, BuiltinOperator::RANGE, {one, end, one});
     },
     "a bound (input 'end') is computed from the model's inputs"},
    {"QuantiseWithoutAScale",
     [](ModelBuilder& b) {
       b.Output(b.Op(BuiltinOperator::QUANTIZE, {b.Input("x", {2})}, "y", {2}, Type::INT8));
     },
     "output: found no scale, wanted one"},
    {"DequantiseWithoutAScale",
     [](ModelBuilder& b) {
       Result(b, BuiltinOperator::DEQUANTIZE, {b.Input("x", {2}, Type::INT8)});
     },
     "input: found no scale, wanted one"},
    {"AnInputThatIsMissing",
     [](ModelBuilder& b) { Result(b, BuiltinOperator::ADD, {b.Input("x", {2})}); },
     "input 1 is missing"},
    {"AFillOfAnotherScale",
     [](ModelBuilder& b) {
       const int x = b.Input("x", {2}, Type::INT8);
       const int fill = b.Constant<int8_t>({1}, Type::INT8, {3});
       const int y =
           b.Op(BuiltinOperator::PADV2, {x, Pairs(b, {1, 1}), fill}, "y", {4}, Type::INT8);
       for (const int tensor : {x, y}) b.Quantize(tensor, {0.5}, {0});
       b.Quantize(fill, {0.25}, {0});
       b.Output(y);
     },
     "a fill of another scale or zero point"},
    {"IfOfAnInput",
     [](ModelBuilder& b) {
       schema::IfOptionsT options;
       options.then_subgraph_index = options.else_subgraph_index = 1;
       Result(b, BuiltinOperator::IF, {b.Input("c", {}, Type::BOOL)}, options);
       b.AddSubgraph();
     },
     "the condition is computed from the model's inputs; it must be known"},
    {"InitialisingTwice",
     [](ModelBuilder& b) {
       b.Output(b.Input("x", {1}));
       CallOnce(b, 1);
       CallOnce(b, 2);
     },
     "CALL_ONCE inside of CALL_ONCE"},
    {"VariableThatIsSetBefore",
     [](ModelBuilder& b) {
       const int x = b.Input("x", {1});
       b.Output(x);
       schema::VarHandleOptionsT options;
       options.shared_name = "sum";
       const auto assign = [&](int value) {
         const int sum = b.Op(BuiltinOperator::VAR_HANDLE, {}, "h", {}, options, Type::RESOURCE);
         b.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {sum, value}, {});
       };
       assign(x);
       CallOnce(b, 1);
       assign(b.Floats({1}, {0}));
     },
     "what the variable 'sum' holds at first is not known"},
    {"DataBehindTheEndOfTheFile",
     [](ModelBuilder& b) {
       Result(b, BuiltinOperator::ABS, {b.Floats({1}, {})});
       b.model.buffers.back()->offset = 1 << 30;
       b.model.buffers.back()->size = 4;
     },
     "its data lie beyond the file"},
    {"AFileWithoutASubgraph", [](ModelBuilder& b) { b.model.subgraphs.clear(); },
     "m.tflite: the model has no subgraph"},
    {"QuantisationByOtherMeans",
     [](ModelBuilder& b) {
       Quantised(b, BuiltinOperator::ABS, Type::INT8, {0.5});
       b.tensor(0).quantization->details_type = 1;
     },
     "quantization of a custom form"},
    {"ProductOfSeveralScales", [](ModelBuilder& b) { Product(b, Type::INT8, {0.5, 0.25}, 0); },
     "operands with several scales, or of more than 16 bits"},
    {"ProductOfWideNumbersWithAZeroPoint",
     [](ModelBuilder& b) { Product(b, Type::INT16, {0.5}, 3); },
     "operands of 16 bits with zero points"},
    {"OperandOfSeveralScales",
     [](ModelBuilder& b) { Quantised(b, BuiltinOperator::ABS, Type::INT8, {0.5, 0.25}); },
     "operands with several scales"},
    {"SumOfTwoScales",
     [](ModelBuilder& b) {
       const int x = b.Input("x", {1}, Type::INT8), z = b.Input("z", {1}, Type::INT8);
       const int y = b.Op(BuiltinOperator::ADD_N, {x, z}, "y", {1}, Type::INT8);
       b.Quantize(x, {0.5}, {0});
       b.Quantize(z, {0.25}, {0});
       b.Quantize(y, {0.5}, {0});
       b.Output(y);
     },
     "inputs whose scales or zero points differ"},
    {"PartsOfSeveralScales",
     [](ModelBuilder& b) {
       const int x = b.Input("x", {2}, Type::UINT8), z = b.Input("z", {2}, Type::UINT8);
       const int y = b.Op(BuiltinOperator::CONCATENATION, {x, z}, "y", {4},
                          schema::ConcatenationOptionsT(), Type::UINT8);
       b.Quantize(x, {0.5, 0.25}, {0, 0});
       b.Quantize(z, {0.5}, {0});
       b.Quantize(y, {0.5}, {0});
       b.Output(y);
     },
     "operands with several scales"},
    {"ActivationOfAFineResult",
     [](ModelBuilder& b) { Quantised(b, BuiltinOperator::HARD_SWISH, Type::INT8, {1}, 0.001F); },
     "an output scale of less than 1/128 of the input's"},
};

class RefusalsTest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusalsTest, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf(GetParam()), HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(Operators, RefusalsTest, testing::ValuesIn(kRefusals), NameOf);

TEST(Refusals, OfBytesThatAreNoModel) {
  for (const char* bytes : {"", "no model, but more than 16 bytes"}) {
    EXPECT_EQ(ErrorOf(bytes),
              "m.tflite: found no whole TFLite model; the file may be cut off or damaged");
  }
}

}  // namespace
}  // namespace kiln::tflite_frontend
