// SPDX-License-Identifier: Apache-2.0
// Refusals of LSTM and SVDF, and their error messages.
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

// Adds an LSTM. Input `extra` is present in addition to the data.
void Lstm(ModelBuilder& b, int extra, schema::UnidirectionalSequenceLSTMOptionsT options,
          ModelBuilder::Shape data = {1, 1, 1}) {
  std::vector<int> inputs(24, -1);
  inputs[0] = b.Input("x", std::move(data));
  if (extra > 0) inputs[static_cast<size_t>(extra)] = b.Input("extra", {1});
  b.Output(
      b.Op(BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, std::move(inputs), "y", {}, options));
}

// Adds an int8 LSTM with the inputs `present`, also int8. It always has the data, the weights of
// the forget gate, the hidden state and the cell.
void QuantisedLstm(ModelBuilder& b, const std::vector<size_t>& present,
                   schema::Activation activation = schema::Activation::TANH,
                   Type cell = Type::INT16, float cell_scale = 0.5) {
  constexpr size_t kForgetWeights = 2, kHidden = 18, kCell = 19;
  std::vector<int> inputs(24, -1);
  const auto add = [&](size_t place, ModelBuilder::Shape shape, Type type, float scale) {
    inputs[place] = b.Input("input" + std::to_string(place), std::move(shape), type);
    b.Quantize(inputs[place], {scale}, {0});
  };
  add(0, {1, 1, 1}, Type::INT8, 0.5);
  add(kForgetWeights, {1, 1}, Type::INT8, 0.5);
  add(kHidden, {1, 1}, Type::INT8, 0.5);
  add(kCell, {1, 1}, cell, cell_scale);
  for (const size_t place : present) add(place, {1, 1}, Type::INT8, 0.5);
  schema::UnidirectionalSequenceLSTMOptionsT options;
  options.fused_activation_function = activation;
  b.Output(
      b.Op(BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, std::move(inputs), "y", {}, options));
}

const Refusal kRefusals[] = {
    {"NormalisedGates", [](ModelBuilder& b) { Lstm(b, 20, {}); }, "layer normalization of gates"},
    {"DiagonalWeights",
     [](ModelBuilder& b) {
       schema::UnidirectionalSequenceLSTMOptionsT options;
       options.diagonal_recurrent_tensors = true;
       Lstm(b, 0, options);
     },
     "diagonal recurrent weights"},
    {"QuantisedPeepholes", [](ModelBuilder& b) { QuantisedLstm(b, {1, 9}); },
     "peepholes and projections of quantized numbers"},
    {"QuantisedProjection", [](ModelBuilder& b) { QuantisedLstm(b, {1, 16}); },
     "peepholes and projections of quantized numbers"},
    {"QuantisedWithoutAnInputGate", [](ModelBuilder& b) { QuantisedLstm(b, {}); },
     "quantized numbers without an input gate"},
    {"QuantisedOfAnotherActivation",
     [](ModelBuilder& b) { QuantisedLstm(b, {1}, schema::Activation::RELU); },
     "an activation other than TANH of quantized numbers"},
    {"QuantisedCellOf8Bits",
     [](ModelBuilder& b) { QuantisedLstm(b, {1}, schema::Activation::TANH, Type::INT8); },
     "the dtype of the cell: found int8, wanted int16"},
    {"QuantisedCellOfAnyScale",
     [](ModelBuilder& b) { QuantisedLstm(b, {1}, schema::Activation::TANH, Type::INT16, 0.75); },
     "the scale of the cell: found 0.75, wanted a power of 2"},
    {"NoSteps", [](ModelBuilder& b) { Lstm(b, 0, {}, {1, 0, 1}); },
     "steps: found 0, wanted 1 to 4096"},
    {"MoreStepsThanAreWrittenOut", [](ModelBuilder& b) { Lstm(b, 0, {}, {1, 4097, 1}); },
     "steps: found 4097, wanted 1 to 4096"},
};

class LstmRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(LstmRefusals, SayWhatIsWrong) {
  EXPECT_EQ(ErrorOf(GetParam()),
            absl::StrCat("m.tflite: node 'y' (UNIDIRECTIONAL_SEQUENCE_LSTM): ", GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(Operators, LstmRefusals, testing::ValuesIn(kRefusals), NameOf);

TEST(SvdfRefusals, OfOtherFilters) {
  for (const int rank : {0, 1, 2}) {
    ModelBuilder b;
    schema::SVDFOptionsT options;
    options.rank = rank;
    const int x = b.Input("x", {1, 2}), features = b.Input("f", {rank == 1 ? 2 : 3, 2});
    const int time = b.Input("t", {3, 4}), state = b.Input("s", {1, 12});
    b.Output(b.Op(BuiltinOperator::SVDF, {x, features, time, -1, state}, "y", {1, 3}, options));
    EXPECT_EQ(ErrorOf(b.Bytes()),
              absl::StrCat("m.tflite: node 'y' (SVDF): weights: found Tensor[(", rank == 1 ? 2 : 3,
                           ", 2), float32] and Tensor[(3, 4), float32] of rank ", rank,
                           ", wanted (filters, inputs) and (filters, steps)"));
  }
}

}  // namespace
}  // namespace kiln::tflite_frontend
