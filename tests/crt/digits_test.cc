// SPDX-License-Identifier: Apache-2.0
// The digits example with both code generators on both runtimes (the C++ runtime with both
// executors), all linked into one program. Every image gives the same bits, and 356 of 359 images
// are read correctly.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "digits_crt_aot_c.h"
#include "digits_crt_aot_llvm.h"
#include "gtest/gtest.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"

namespace kiln {
namespace {

constexpr size_t kImages = 359;
constexpr size_t kPixels = 64;
constexpr size_t kClasses = 10;

using Image = std::array<float, kPixels>;
using Probabilities = std::array<float, kClasses>;

// Returns the data of a NumPy file: its last `count` bytes, which follow the header.
std::vector<uint8_t> Bytes(const std::string& path, size_t count) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.size() <= count) return {};
  return {bytes.end() - static_cast<ptrdiff_t>(count), bytes.end()};
}

std::vector<Image> Images() {
  const std::vector<uint8_t> pixels = Bytes("models/digits/test_images.npy", kImages * kPixels);
  std::vector<Image> images(pixels.size() / kPixels);
  for (size_t i = 0; i < images.size() * kPixels; ++i) {
    images[i / kPixels][i % kPixels] = static_cast<float>(pixels[i]) / 16;
  }
  return images;
}

std::vector<Probabilities> OnCppRuntime(const std::string& module,
                                        const std::vector<Image>& images) {
  const absl::StatusOr<runtime::Module> factory = runtime::Module::SystemLib(module);
  if (!factory.ok()) return {};
  const absl::StatusOr<runtime::Model> model = runtime::Model::FromModule(*factory);
  if (!model.ok()) return {};
  const runtime::TensorInfo& info = model->inputs()[0];
  const runtime::NDArray input =
      runtime::NDArray::Empty(info.shape, info.dtype, info.device).value();
  std::vector<Probabilities> results;
  for (const Image& image : images) {
    std::copy(image.begin(), image.end(), input.values<float>().begin());
    const absl::StatusOr<std::vector<runtime::NDArray>> outputs = model->Run({input});
    if (!outputs.ok()) return results;
    std::copy_n(outputs->front().values<float>().begin(), kClasses, results.emplace_back().begin());
  }
  return results;
}

template <typename Run>
std::vector<Probabilities> OnCRuntime(const Run& run, const std::vector<Image>& images) {
  std::vector<Probabilities> results;
  alignas(64) Image input;
  alignas(64) Probabilities output;
  for (const Image& image : images) {
    input = image;
    if (run(input.data(), output.data()) != 0) return results;
    results.push_back(output);
  }
  return results;
}

TEST(Digits, SameBitsOnEveryRuntime) {
  const std::vector<Image> images = Images();
  const std::vector<uint8_t> labels = Bytes("models/digits/test_labels.npy", kImages);
  ASSERT_EQ(images.size(), kImages);
  ASSERT_EQ(labels.size(), kImages);

  const std::vector<Probabilities> expected = OnCRuntime(
      [](void* in, void* out) { return tvmgen_digits_crt_aot_c_run_model(in, out); }, images);
  ASSERT_EQ(expected.size(), kImages);
  size_t right = 0;
  for (size_t i = 0; i < kImages; ++i) {
    const auto best = std::max_element(expected[i].begin(), expected[i].end());
    right += best - expected[i].begin() == labels[i];
  }
  EXPECT_EQ(right, 356u);

  alignas(TVMGEN_DIGITS_CRT_AOT_LLVM_WORKSPACE_ALIGNMENT_BYTES) static uint8_t
      llvm_workspace[TVMGEN_DIGITS_CRT_AOT_LLVM_WORKSPACE_SIZE_BYTES];
  EXPECT_EQ(OnCRuntime(
                [](void* in, void* out) {
                  return tvmgen_digits_crt_aot_llvm_run_with_workspace(in, out, llvm_workspace);
                },
                images),
            expected);
  for (const char* module :
       {"digits_cpp_aot_c", "digits_cpp_aot_llvm", "digits_cpp_graph_c", "digits_cpp_graph_llvm"}) {
    EXPECT_EQ(OnCppRuntime(module, images), expected) << module;
  }
}

}  // namespace
}  // namespace kiln
