// SPDX-License-Identifier: Apache-2.0
// Refusals of operators on quantized numbers, and their error messages.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/frontend/tflite/refusal.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using Type = ModelBuilder::Type;

int QuantisedInput(ModelBuilder& b, const char* name, ModelBuilder::Shape shape, Type type,
                   float scale) {
  const int x = b.Input(name, std::move(shape), type);
  b.Quantize(x, {scale}, {0});
  return x;
}

// Sets the operator's output, with scale 0.5.
void SetOutput(ModelBuilder& b, int y) {
  b.Quantize(y, {0.5}, {0});
  b.Output(y);
}

void Resize(ModelBuilder& b, ModelBuilder::Shape shape, const std::vector<int32_t>& size) {
  const int x = QuantisedInput(b, "x", std::move(shape), Type::INT8, 0.5);
  SetOutput(b, b.Op(BuiltinOperator::RESIZE_BILINEAR, {x, b.Ints(size)}, "y", {1, 1, 1, 1},
                    schema::ResizeBilinearOptionsT(), Type::INT8));
}

// Each model has the output 'y'. `text` is the part of the error after the name of the node.
const Refusal kRefusals[] = {
    {"FusedTanh",
     [](ModelBuilder& b) {
       const int x = QuantisedInput(b, "x", {1}, Type::INT8, 0.5);
       schema::AddOptionsT options;
       options.fused_activation_function = schema::Activation::TANH;
       SetOutput(b, b.Op(BuiltinOperator::ADD, {x, x}, "y", {1}, options, Type::INT8));
     },
     "(ADD): the fused activation TANH of quantized numbers"},
    {"OneOperandWithoutAScale",
     [](ModelBuilder& b) {
       const int x = QuantisedInput(b, "x", {1}, Type::INT8, 0.5);
       const int z = b.Input("z", {1}, Type::INT8);
       SetOutput(b, b.Op(BuiltinOperator::ADD_N, {x, z}, "y", {1}, Type::INT8));
     },
     "(ADD_N): input 1: found no scale, wanted a quantized tensor, as the others are"},
    {"WideNumbers",
     [](ModelBuilder& b) {
       const int x = QuantisedInput(b, "x", {1}, Type::INT32, 0.5);
       SetOutput(b, b.Op(BuiltinOperator::ABS, {x}, "y", {1}, Type::INT32));
     },
     "(ABS): input 0: found Tensor[(1,), int32], wanted integers of up to 16 bits"},
    {"LogisticOfAnotherScale",
     [](ModelBuilder& b) {
       const int x = QuantisedInput(b, "x", {1}, Type::UINT8, 0.5);
       SetOutput(b, b.Op(BuiltinOperator::LOGISTIC, {x}, "y", {1}, Type::UINT8));
     },
     "(LOGISTIC): the output's scale and zero point: found 0.5, 0, wanted 0.00390625, 0"},
    {"TanhOfAnotherScale",
     [](ModelBuilder& b) {
       const int x = QuantisedInput(b, "x", {1}, Type::UINT8, 0.5);
       SetOutput(b, b.Op(BuiltinOperator::TANH, {x}, "y", {1}, Type::UINT8));
     },
     "(TANH): the output's scale and zero point: found 0.5, 0, wanted 0.0078125, 128"},
    {"ResizeOfRank3", [](ModelBuilder& b) { Resize(b, {1, 2, 2}, {1, 1}); },
     "(RESIZE_BILINEAR): data: found Tensor[(1, 2, 2), int8], wanted rank 4, integers of up to 16 "
     "bits"},
    {"ResizeToOneNumber", [](ModelBuilder& b) { Resize(b, {1, 2, 2, 1}, {1}); },
     "(RESIZE_BILINEAR): the size: found 1 numbers, wanted 2"},
    {"ResizeToNothing", [](ModelBuilder& b) { Resize(b, {1, 2, 2, 1}, {1, 0}); },
     "(RESIZE_BILINEAR): the size: found 2 to 0 places, wanted 1 to 1048576"},
};

class QuantizedRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(QuantizedRefusals, SayWhatIsWrong) {
  EXPECT_EQ(ErrorOf(GetParam()), absl::StrCat("m.tflite: node 'y' ", GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(Operators, QuantizedRefusals, testing::ValuesIn(kRefusals), NameOf);

}  // namespace
}  // namespace kiln::tflite_frontend
