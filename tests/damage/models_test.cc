// SPDX-License-Identifier: Apache-2.0
// Damaged models give an error or a well-formed graph (tests/fuzz/readers.h), within 10 s and 4
// times the memory of the whole model.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/damage/allocations.h"
#include "tests/damage/damage.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/seeds.h"

namespace kiln::testing {
namespace {

// Reading so few bytes never takes this long, on any machine.
constexpr unsigned kSeconds = 10;
constexpr size_t kTimes = 4;
// Memory that any model may use: import may compute up to 2^16 numbers.
constexpr size_t kLeastBytes = size_t{4} << 20;
// Every seventh bit of small models is flipped, so every byte is covered.
constexpr size_t kEvery = 7;
// Number of truncations and of changed bytes for each real model.
constexpr int kSamples = 150;

void StopHanging(int) {
  constexpr char kMessage[] = "a damaged model has been read for 10 s\n";
  if (write(2, kMessage, sizeof kMessage - 1) < 0) _exit(2);
  _exit(1);
}

// Calls `read` within the limits of time and memory.
class Limited {
 public:
  Limited(std::string whole, Reader read) : read_(std::move(read)) {
    std::signal(SIGALRM, StopHanging);
    const AllocationPeak peak;
    const absl::Status status = read_(whole);
    EXPECT_TRUE(status.ok()) << status;
    most_bytes_ = kTimes * std::max(peak.bytes(), kLeastBytes);
  }

  absl::Status operator()(absl::string_view bytes) const {
    alarm(kSeconds);
    const AllocationPeak peak;
    absl::Status status = read_(bytes);
    alarm(0);
    EXPECT_LE(peak.bytes(), most_bytes_);
    return status;
  }

 private:
  Reader read_;
  size_t most_bytes_ = 0;
};

Reader ReaderOf(const std::string& file) {
  if (absl::EndsWith(file, ".onnx"))
    return [](absl::string_view bytes) { return fuzz::ReadOnnx(bytes); };
  return fuzz::ReadTflite;
}

class SmallModels : public ::testing::TestWithParam<fuzz::Seed> {};

TEST_P(SmallModels, Cuts) {
  const auto& [name, bytes] = GetParam();
  ExpectCutsAreHarmless(bytes, Limited(bytes, ReaderOf(name)));
}

TEST_P(SmallModels, Flips) {
  const auto& [name, bytes] = GetParam();
  ExpectFlipsAreHarmless(bytes, Limited(bytes, ReaderOf(name)), 0, std::string::npos, kEvery);
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, SmallModels, ::testing::ValuesIn(fuzz::Seeds()), [](const auto& info) {
      std::string name = info.param.name;
      std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
      return name;
    });

TEST(ExternalData, ModelAndFileAreDamaged) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "external_data_", getpid());
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/weights.bin";
  const auto write = [&](size_t size) {
    std::ofstream(path, std::ios::binary) << std::string(size, '\1');
  };
  write(8);
  const std::string bytes = fuzz::OnnxWithExternalData();
  const Limited read(bytes,
                     [&](absl::string_view damaged) { return fuzz::ReadOnnx(damaged, folder); });
  ExpectCutsAreHarmless(bytes, read);
  ExpectFlipsAreHarmless(bytes, read);
  for (size_t size = 0; size < 8; ++size) {
    write(size);
    const absl::Status status = read(bytes);
    EXPECT_TRUE(absl::StrContains(status.message(), "weights.bin")) << status;
  }
  std::filesystem::remove_all(folder);
}

class RealModels : public ::testing::TestWithParam<const char*> {};

TEST_P(RealModels, SomeDamage) {
  const char* folder = std::getenv("KILN_SHARED_DATA");
  if (folder == nullptr || *folder == '\0') {
    GTEST_SKIP() << "KILN_SHARED_DATA does not name the folder with the models";
  }
  std::ifstream file(absl::StrCat(folder, "/", GetParam()), std::ios::binary);
  ASSERT_TRUE(file.good());
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ExpectSomeDamageIsHarmless(bytes, Limited(bytes, ReaderOf(GetParam())), kSamples);
}

INSTANTIATE_TEST_SUITE_P(
    Models, RealModels,
    ::testing::Values(
        "mlperf_tiny/kws/kws_ref_model.tflite", "onnx_models/mnist_cntk/model.onnx",
        "onnx_models/mnist_quantized_connxr/model.onnx", "onnx_models/mlperf_kws_int8/model.onnx",
        "onnx_models/mlperf_ic_int8/model.onnx", "tflite_models/dilated_conv/model.tflite",
        "tflite_models/lstm2_tmc/model.tflite", "tflite_models/tinymaix_mnist_f/model.tflite",
        "tflite_models/tinymaix_mnist_q/model.tflite", "tflm/hello_world/hello_world_float.tflite",
        "tflm/hello_world/hello_world_int8.tflite", "tflm/mnist_lstm/trained_lstm.tflite"));

}  // namespace
}  // namespace kiln::testing
