// SPDX-License-Identifier: Apache-2.0
// The custom operators of the Signal library: results for constants, which the importer computes,
// and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/frontend/tflite/refusal.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/relay_text.h"
#include "flatbuffers/flexbuffers.h"

namespace kiln::tflite_frontend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tflite_schema::BuiltinOperator;
using Type = ModelBuilder::Type;
using Options = std::map<std::string, int64_t>;

std::vector<uint8_t> FlexBuffer(const Options& options) {
  flexbuffers::Builder builder;
  builder.Map([&] {
    for (const auto& [name, value] : options) builder.Int(name.c_str(), value);
  });
  builder.Finish();
  return builder.GetBuffer();
}

void AddCustom(ModelBuilder& b, const char* name, std::vector<int> inputs, std::vector<int> outputs,
               std::vector<uint8_t> options) {
  b.AddOperator(BuiltinOperator::CUSTOM, std::move(inputs), std::move(outputs)).custom_options =
      std::move(options);
  b.model.operator_codes.back()->custom_code = name;
}

int Custom(ModelBuilder& b, const char* name, std::vector<int> inputs, Type type,
           const Options& options) {
  const int y = b.Add("y", {}, type);
  AddCustom(b, name, std::move(inputs), {y}, FlexBuffer(options));
  return y;
}

int Shorts(ModelBuilder& b, const std::vector<int16_t>& values) {
  return b.Constant({static_cast<int32_t>(values.size())}, Type::INT16, values);
}

int Words(ModelBuilder& b, const std::vector<uint32_t>& values) {
  return b.Constant({static_cast<int32_t>(values.size())}, Type::UINT32, values);
}

// Returns the values of all outputs in order.
std::vector<int64_t> Compute(const ModelBuilder& b) {
  const absl::StatusOr<Graph> graph = ImportTflite(b.Bytes(), "m.tflite", {}, EvaluateConstants);
  EXPECT_TRUE(graph.ok()) << graph.status();
  std::vector<int64_t> values;
  if (!graph.ok()) return values;
  for (ValueId output : graph->outputs) {
    const std::vector<int64_t> ints = graph->value(output).constant.ToInts();
    values.insert(values.end(), ints.begin(), ints.end());
  }
  return values;
}

TEST(SignalWindow, RoundsDownAndSaturates) {
  ModelBuilder b;
  const int x = Shorts(b, {1000, -32768, -3, 32767, -32768}),
            window = Shorts(b, {2048, 4096, 2048, 8192, 8192});
  b.Output(Custom(b, "SignalWindow", {x, window}, Type::INT16, {{"shift", 12}}));
  EXPECT_THAT(Compute(b), ElementsAre(500, -32768, -2, 32767, -32768));
}

TEST(SignalFft, ScalesTransformsAndTakesTheEnergy) {
  ModelBuilder b;
  const int x = Shorts(b, {3, -100, 7}), scaled = b.Add("scaled", {}, Type::INT16),
            bits = b.Add("bits", {}, Type::INT32);
  AddCustom(b, "SignalFftAutoScale", {x}, {scaled, bits}, {});
  const int bins = Custom(b, "SignalRfft", {scaled}, Type::INT16, {{"T", 7}, {"fft_length", 4}});
  b.Output(bits);
  b.Output(bins);
  b.Output(Custom(b, "SignalEnergy", {bins}, Type::UINT32, {{"start_index", 1}, {"end_index", 2}}));
  // The transform of 768, -25600, 1792 and 0, divided by 4, with the rounding of KISS FFT.
  EXPECT_THAT(Compute(b),
              ElementsAre(8, -5759, 0, -256, 6399, 7039, 0, 0, 256 * 256 + 6399 * 6399, 0));
}

TEST(SignalFft, InvertsTheTransform) {
  ModelBuilder b;
  const int bins = Shorts(b, {-3034, 0, 11995, -10884, -5462, 0});
  b.Output(Custom(b, "SignalIrfft", {bins}, Type::INT16, {{"T", 7}, {"fft_length", 4}}));
  EXPECT_THAT(Compute(b), ElementsAre(3873, 6049, -8121, -4835));
}

// Runs of bins with weights and unweights. The weights of the first run and the unweights of the
// last have no channel.
int FilterBank(ModelBuilder& b, int64_t channels, const std::vector<int16_t>& first_bins,
               const std::vector<int16_t>& first_weights, const std::vector<int16_t>& widths) {
  const int x = Words(b, {10, 20, 30, 40, 50});
  const int weights = Shorts(b, {1, 2, 3, 4, 0}), unweights = Shorts(b, {5, 6, 7, 8, 0});
  return Custom(
      b, "SignalFilterBank",
      {x, weights, unweights, Shorts(b, first_bins), Shorts(b, first_weights), Shorts(b, widths)},
      Type::UINT64, {{"num_channels", channels}});
}

TEST(SignalFilterBank, SharesBinsBetweenTwoChannels) {
  ModelBuilder two;
  // The last run ends after the last bin, with weights of 0.
  two.Output(FilterBank(two, 2, {1, 2, 4}, {0, 1, 3}, {1, 2, 2}));
  // First channel: unweights of the first run and weights of the second. Second channel: unweights
  // of the second run and weights of the third.
  EXPECT_THAT(Compute(two), ElementsAre(20 * 5 + 30 * 2 + 40 * 3, 30 * 6 + 40 * 7 + 50 * 4));
  ModelBuilder one;
  one.Output(FilterBank(one, 1, {1, 2}, {0, 1}, {1, 2}));
  EXPECT_THAT(Compute(one), ElementsAre(20 * 5 + 30 * 2 + 40 * 3));
}

TEST(SignalFilterBank, TakesTheRootAndTheLogarithm) {
  ModelBuilder b;
  const int x = b.Constant<uint64_t>({3}, Type::UINT64, {0, 1000000, 4000000000000});
  const int bits = b.Constant<int32_t>({}, Type::INT32, {2});
  const int root = Custom(b, "SignalFilterBankSquareRoot", {x, bits}, Type::UINT32, {});
  b.Output(root);
  b.Output(Custom(b, "SignalFilterBankLog", {root}, Type::INT16,
                  {{"input_correction_bits", 3}, {"output_scale", 64}}));
  EXPECT_THAT(Compute(b), ElementsAre(0, 250, 500000, 0, 486, 973));
}

const Options kSubtraction = {{"alternate_one_minus_smoothing", 15401},
                              {"alternate_smoothing", 983},
                              {"clamping", 0},
                              {"min_signal_remaining", 819},
                              {"num_channels", 2},
                              {"smoothing", 409},
                              {"one_minus_smoothing", 15975},
                              {"smoothing_bits", 10},
                              {"spectral_subtraction_bits", 14}};

TEST(SignalFilterBank, KeepsTheEstimateOfNoise) {
  ModelBuilder b;
  const int x = b.Input("x", {2}, Type::UINT32), y = b.Add("y", {2}, Type::UINT32),
            noise = b.Add("noise", {2}, Type::UINT32);
  AddCustom(b, "SignalFilterBankSpectralSubtraction", {x}, {y, noise}, FlexBuffer(kSubtraction));
  const int gains = Shorts(b, std::vector<int16_t>(125, 1000));
  b.Output(Custom(b, "SignalPCAN", {y, noise, gains}, Type::UINT32, {{"snr_shift", 6}}));
  const absl::StatusOr<Graph> graph = ImportTflite(b.Bytes(), "m.tflite", {}, EvaluateConstants);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::string text = PrintRelay(*graph);
  EXPECT_THAT(text, HasSubstr("state_initial=[0f], state_inputs=[\"y.state\"], "
                              "state_outputs=[\"y.state.next\"]"));
  EXPECT_THAT(text, HasSubstr("smoothing=[409, 983], one_minus_smoothing=[15975, 15401]"));
  EXPECT_THAT(text, HasSubstr("signal.gain_control("));
}

void Window(ModelBuilder& b, std::vector<uint8_t> options) {
  const int y = b.Add("y", {4}, Type::INT16);
  const int x = b.Input("x", {4}, Type::INT16);
  AddCustom(b, "SignalWindow", {x, Shorts(b, {1, 2, 3, 4})}, {y}, std::move(options));
  b.Output(y);
}

void Output(ModelBuilder& b, const char* name, std::vector<int> inputs, Type type,
            const Options& options) {
  b.Output(Custom(b, name, std::move(inputs), type, options));
}

std::vector<uint8_t> NoMap() {
  flexbuffers::Builder builder;
  builder.Int(12);
  builder.Finish();
  return builder.GetBuffer();
}

const Refusal kRefusals[] = {
    {"NoOptions", [](ModelBuilder& b) { Window(b, {}); },
     "(CUSTOM SignalWindow): custom options: found no number 'shift', wanted one"},
    {"OptionsThatAreNoFlexBuffer", [](ModelBuilder& b) { Window(b, {1, 2, 3, 255, 255}); },
     "custom options: found bytes that are no FlexBuffer, wanted a FlexBuffer"},
    {"OptionsThatAreNoMap", [](ModelBuilder& b) { Window(b, NoMap()); },
     "custom options: found no map, wanted a map of names to numbers"},
    {"LongOptions", [](ModelBuilder& b) { Window(b, std::vector<uint8_t>(5000)); },
     "custom options: found 5000 bytes, wanted at most 4096"},
    {"ShiftOfAWord", [](ModelBuilder& b) { Window(b, FlexBuffer({{"shift", 32}})); },
     "shift: found 32, wanted 0 to 31"},
    {"WindowOfAnotherLength",
     [](ModelBuilder& b) {
       const int x = b.Input("x", {5}, Type::INT16);
       Output(b, "SignalWindow", {x, Shorts(b, {1, 2})}, Type::INT16, {{"shift", 1}});
     },
     "data and window: found Tensor[(5,), int16] and Tensor[(2,), int16], wanted int16 of one "
     "length"},
    {"LengthOfTheTransform",
     [](ModelBuilder& b) {
       Output(b, "SignalRfft", {b.Input("x", {5}, Type::INT16)}, Type::INT16, {{"fft_length", 12}});
     },
     "found fft_length 12, wanted a power of two from 4 to 65536"},
    {"PartsWithoutAPartner",
     [](ModelBuilder& b) {
       Output(b, "SignalEnergy", {b.Input("x", {5}, Type::INT16)}, Type::UINT32, {});
     },
     "data: found Tensor[(5,), int16], wanted pairs of real and imaginary parts"},
    {"RangeOfBins",
     [](ModelBuilder& b) {
       Output(b, "SignalEnergy", {b.Input("x", {6}, Type::INT16)}, Type::UINT32,
              {{"start_index", 2}, {"end_index", 4}});
     },
     "start_index and end_index: found 2 and 4, wanted a range of 3 bins"},
    {"RunsOfBins", [](ModelBuilder& b) { b.Output(FilterBank(b, 3, {0, 1}, {0, 1}, {1, 1})); },
     "num_channels: found 3, wanted at least 1, and less than the 2 runs of bins"},
    {"BinsBehindTheLast",
     [](ModelBuilder& b) { b.Output(FilterBank(b, 1, {1, 4}, {0, 1}, {1, 2})); },
     "a bin of the filter bank: found 5, wanted 0 to 4"},
    {"WeightsBehindTheLast",
     [](ModelBuilder& b) { b.Output(FilterBank(b, 1, {1, 2}, {0, 4}, {1, 2})); },
     "weights of a channel: found 4 to 5, wanted 0 to 4"},
    {"FewGains",
     [](ModelBuilder& b) {
       const int x = b.Input("x", {2}, Type::UINT32);
       Output(b, "SignalPCAN", {x, x, Shorts(b, {1, 2})}, Type::UINT32, {{"snr_shift", 6}});
     },
     "found Tensor[(2,), int16], wanted an int16 vector of 125 or more"},
    {"AnotherOperator",
     [](ModelBuilder& b) {
       Output(b, "SignalStacker", {b.Input("x", {2}, Type::INT16)}, Type::INT16, {});
     },
     "operator CUSTOM SignalStacker is not supported"},
};

class SignalRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(SignalRefusals, SayWhatIsWrong) {
  EXPECT_THAT(ErrorOf(GetParam()), HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(Operators, SignalRefusals, testing::ValuesIn(kRefusals), NameOf);

}  // namespace
}  // namespace kiln::tflite_frontend
