// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tools/judge/validation.h"

namespace kiln::tools {
namespace {

template <typename T>
Samples Make(DType dtype, int64_t elements, const std::vector<T>& values) {
  const TensorType type = {{1, elements}, dtype};
  const int64_t count = static_cast<int64_t>(values.size()) / elements;
  return {type, count, Tensor::From<T>({count, elements}, dtype, values).bytes()};
}

Samples Floats(int64_t elements, const std::vector<float>& values) {
  return Make<float>(DType::Float(32), elements, values);
}

TEST(Samples, AreCountedByShape) {
  const TensorType type = {{1, 49, 10}, DType::Int(8)};
  EXPECT_EQ(CountSamples(type, type), 1);
  EXPECT_EQ(CountSamples({{1000, 49, 10}, DType::Int(8)}, type), 1000);
  EXPECT_EQ(CountSamples({{1000, 1, 49, 10}, DType::Int(8)}, type), 1000);
  EXPECT_EQ(CountSamples({{1000, 49, 10}, DType::UInt(8)}, type), 0);
  EXPECT_EQ(CountSamples({{1000, 49, 11}, DType::Int(8)}, type), 0);
  EXPECT_EQ(CountSamples({{1000, 2, 49, 10}, DType::Int(8)}, type), 0);
  const TensorType batch = {{4, 3}, DType::Float(32)};
  EXPECT_EQ(CountSamples({{8, 3}, DType::Float(32)}, batch), 2);
  EXPECT_EQ(CountSamples({{9, 3}, DType::Float(32)}, batch), 0);
  const TensorType scalar = {{}, DType::Float(32)};
  EXPECT_EQ(CountSamples(scalar, scalar), 1);
  EXPECT_EQ(CountSamples({{7}, DType::Float(32)}, scalar), 7);
}

TEST(Samples, StackInTheFirstDimension) {
  EXPECT_EQ(StackedType({{1, 3}, DType::Int(8)}, 5), (TensorType{{5, 3}, DType::Int(8)}));
  EXPECT_EQ(StackedType({{2, 3}, DType::Int(8)}, 5), (TensorType{{5, 2, 3}, DType::Int(8)}));
  EXPECT_EQ(StackedType({{}, DType::Int(8)}, 5), (TensorType{{5}, DType::Int(8)}));
}

TEST(Agreement, OfEqualIntegers) {
  const Samples a = Make<int8_t>(DType::Int(8), 2, {1, -128, 127, 0});
  const Agreement agreement = MeasureAgreement(a, a, {});
  EXPECT_EQ(agreement.samples, 2);
  EXPECT_EQ(agreement.equal_samples, 2);
  EXPECT_EQ(agreement.elements_beyond, 0);
  EXPECT_EQ(agreement.largest, 0);
  EXPECT_DOUBLE_EQ(agreement.Cosine(), 1);
  EXPECT_EQ(agreement.same_argmax, 2);
  EXPECT_EQ(agreement.histogram, std::vector<int64_t>{4});
}

TEST(Agreement, CountsQuanta) {
  const Samples found = Make<int8_t>(DType::Int(8), 2, {1, 2, 127, 0, 5, 5});
  const Samples wanted = Make<int8_t>(DType::Int(8), 2, {1, 2, -128, 3, 5, 6});
  const Agreement agreement = MeasureAgreement(found, wanted, {.steps = 1});
  EXPECT_EQ(agreement.equal_samples, 1);
  EXPECT_EQ(agreement.largest_steps, 255u);
  EXPECT_EQ(agreement.largest, 255);
  EXPECT_EQ(agreement.worst_sample, 1);
  EXPECT_EQ(agreement.elements_beyond, 2) << "one quantum is within the bounds";
  EXPECT_EQ(agreement.samples_beyond, 1);
  EXPECT_EQ(agreement.same_argmax, 1);
  EXPECT_DOUBLE_EQ(agreement.Mean(), 259.0 / 6);
  EXPECT_DOUBLE_EQ(agreement.Rms(), std::sqrt((255.0 * 255 + 9 + 1) / 6));
  EXPECT_EQ(agreement.histogram, (std::vector<int64_t>{3, 1, 1, 0, 0, 0, 0, 0, 1}));
}

TEST(Agreement, CountsUlps) {
  const float next = std::nextafter(1.0f, 2.0f);
  const Samples found = Floats(3, {next, 0.0f, std::numeric_limits<float>::denorm_min()});
  const Samples wanted = Floats(3, {1.0f, -0.0f, -std::numeric_limits<float>::denorm_min()});
  const Agreement agreement = MeasureAgreement(found, wanted, {});
  EXPECT_EQ(agreement.largest_steps, 2u) << "across zero";
  EXPECT_EQ(agreement.histogram, (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(agreement.elements_beyond, 2);
  EXPECT_EQ(MeasureAgreement(found, wanted, {.relative = 1e-6, .absolute = 1e-6}).elements_beyond,
            0);
}

TEST(Agreement, TakesNanForNanOnly) {
  const float nan = std::nanf("");
  const Agreement same = MeasureAgreement(Floats(1, {nan}), Floats(1, {nan}), {});
  EXPECT_EQ(same.equal_samples, 1);
  EXPECT_FALSE(same.same_argmax.has_value()) << "of one element";
  const Agreement other =
      MeasureAgreement(Floats(1, {1}), Floats(1, {nan}), {.relative = 1, .absolute = 1e30});
  EXPECT_EQ(other.elements_beyond, 1);
  EXPECT_EQ(other.not_finite, 1);
  const nlohmann::ordered_json report =
      ValidationJson({.outputs = {{"y", {{1}, DType::Float(32)}, other}}})["outputs"][0];
  for (const char* key : {"largest_difference", "mean_difference", "rms_difference"}) {
    EXPECT_TRUE(std::isinf(report[key].get<double>())) << key;
  }
  EXPECT_TRUE(std::isnan(report["cosine"].get<double>()));
}

TEST(Agreement, OfWideIntegersDoesNotOverflow) {
  const Samples a = Make<int64_t>(DType::Int(64), 1, {std::numeric_limits<int64_t>::max()});
  const Samples b = Make<int64_t>(DType::Int(64), 1, {std::numeric_limits<int64_t>::min()});
  EXPECT_EQ(MeasureAgreement(a, b, {}).largest_steps, std::numeric_limits<uint64_t>::max());
  const Samples c = Make<uint64_t>(DType::UInt(64), 1, {std::numeric_limits<uint64_t>::max()});
  const Samples d = Make<uint64_t>(DType::UInt(64), 1, {0});
  EXPECT_EQ(MeasureAgreement(c, d, {}).largest_steps, std::numeric_limits<uint64_t>::max());
}

Validation TwoSamples() {
  const Samples found = Make<int8_t>(DType::Int(8), 2, {1, 2, 127, 0});
  const Samples wanted = Make<int8_t>(DType::Int(8), 2, {1, 2, 127, 3});
  return {.model = "kws.tflite",
          .where = "cortex-m4f in QEMU",
          .outputs = {{"Identity", found.type, MeasureAgreement(found, wanted, {})}},
          .instructions = {7, 9}};
}

TEST(Report, ShowsATableAndAHistogram) {
  const std::string text = ValidationText(TwoSamples(), 0) + Verdict(TwoSamples().outputs.front());
  EXPECT_NE(text.find("kws.tflite, cortex-m4f in QEMU: 2 samples"), std::string::npos) << text;
  EXPECT_NE(text.find("Identity  Tensor[(1, 2), int8]        2"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 samples equal"), std::string::npos) << text;
  EXPECT_NE(text.find("worst sample: 1"), std::string::npos) << text;
  EXPECT_NE(text.find("2 to 3"), std::string::npos) << text;
  EXPECT_NE(text.find("instructions of an inference: 7 to 9"), std::string::npos) << text;
  EXPECT_NE(text.find("DIFFERENT"), std::string::npos) << text;
}

TEST(Report, IsJsonForMachines) {
  const std::string text = ValidationJson(TwoSamples()).dump(2);
  for (const char* part :
       {"\"within_bounds\": false", "\"equal_samples\": 1", "\"unit\": \"quanta\"", "\"from\": 2",
        "\"to\": 3", "\"worst_sample\": 1", "\"largest_instructions\": 9"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

}  // namespace
}  // namespace kiln::tools
