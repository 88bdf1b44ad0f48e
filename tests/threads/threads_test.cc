// SPDX-License-Identifier: Apache-2.0
// Many threads and one loaded model, or one model with the C interface. ThreadSanitizer ends the
// program with a failure if it reports anything.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/thread_pool.h"
#include "tests/threads/digits_c/digits_c.h"

namespace kiln::runtime {
namespace {

constexpr char kSharedObject[] = "tests/threads/digits.shared/digits.so";
constexpr size_t kThreads = 8;
constexpr size_t kImages = 359;
constexpr size_t kPixels = 64;
constexpr size_t kClasses = 10;

using Probabilities = std::array<float, kClasses>;

// The workspace of the model with the C interface.
struct alignas(TVMGEN_DIGITS_C_WORKSPACE_ALIGNMENT_BYTES) DigitsWorkspace {
  uint8_t bytes[TVMGEN_DIGITS_C_WORKSPACE_SIZE_BYTES];
};

// Returns the data of a NumPy file: its last `count` bytes, which follow the header.
std::vector<uint8_t> Bytes(const std::string& path, size_t count) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.size() <= count) return {};
  return {bytes.end() - static_cast<ptrdiff_t>(count), bytes.end()};
}

class Threads : public testing::Test {
 protected:
  void SetUp() override {
    images_ = Bytes("models/digits/test_images.npy", kImages * kPixels);
    labels_ = Bytes("models/digits/test_labels.npy", kImages);
    ASSERT_EQ(images_.size(), kImages * kPixels);
    ASSERT_EQ(labels_.size(), kImages);
    ASSERT_TRUE(ThreadPool::Global().SetNumThreads(3).ok());
  }

  void FillWithImage(size_t image, float* input) const {
    const auto pixels = images_.begin() + static_cast<ptrdiff_t>(image * kPixels);
    std::transform(pixels, pixels + kPixels, input,
                   [](uint8_t pixel) { return static_cast<float>(pixel) / 16; });
  }

  NDArray NewInput(const Model& model) const {
    const TensorInfo& info = model.inputs()[0];
    return NDArray::Empty(info.shape, info.dtype, info.device).value();
  }

  Probabilities Classify(const Model& model, const NDArray& input, size_t image) const {
    FillWithImage(image, input.values<float>().data());
    const absl::StatusOr<std::vector<NDArray>> outputs = model.Run({input});
    Probabilities result = {};
    if (outputs.ok())
      std::copy_n(outputs->front().values<float>().begin(), kClasses, result.begin());
    return result;
  }

  // Each thread starts at a different image and classifies all of them. `new_classifier` returns a
  // function of an image with memory of its own.
  template <typename NewClassifier>
  void ExpectSameFromManyThreads(const NewClassifier& new_classifier) {
    std::vector<Probabilities> alone(kImages);
    const auto classify = new_classifier();
    size_t right = 0;
    for (size_t i = 0; i < kImages; ++i) {
      alone[i] = classify(i);
      right += std::max_element(alone[i].begin(), alone[i].end()) - alone[i].begin() == labels_[i];
    }
    EXPECT_EQ(right, 356u);

    std::array<size_t, kThreads> same = {};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&new_classifier, &alone, &same, t] {
        const auto own = new_classifier();
        for (size_t k = 0; k < kImages; ++k) {
          const size_t image = (t * kImages / kThreads + k) % kImages;
          same[t] += own(image) == alone[image];
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (size_t t = 0; t < kThreads; ++t) EXPECT_EQ(same[t], kImages) << "thread " << t;
  }

  void ExpectSameFromManyThreads(const Model& model) {
    ExpectSameFromManyThreads([this, &model] {
      return [this, &model, input = NewInput(model)](size_t image) {
        return Classify(model, input, image);
      };
    });
  }

  std::vector<uint8_t> images_;
  std::vector<uint8_t> labels_;
};

TEST_F(Threads, AotExecutor) {
  ExpectSameFromManyThreads(Model::FromModule(Module::SystemLib("digits_aot").value()).value());
}

TEST_F(Threads, GraphExecutor) {
  ExpectSameFromManyThreads(Model::FromModule(Module::SystemLib("digits_graph").value()).value());
}

TEST_F(Threads, SharedObject) { ExpectSameFromManyThreads(Model::Load(kSharedObject).value()); }

// Threads may run a model with the C interface at the same time, each on its own workspace.
TEST_F(Threads, CInterface) {
  ExpectSameFromManyThreads([this] {
    return [this, workspace = std::make_unique<DigitsWorkspace>()](size_t image) {
      std::array<float, kPixels> input;
      FillWithImage(image, input.data());
      Probabilities result = {};
      const int32_t status =
          tvmgen_digits_c_run_with_workspace(input.data(), result.data(), workspace->bytes);
      EXPECT_EQ(status, 0);
      return result;
    };
  });
}

// Loading is thread-safe, too: each thread loads, runs and drops its own model.
TEST_F(Threads, LoadAndRun) {
  std::array<bool, kThreads> right = {};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, &right, t] {
      const absl::StatusOr<Model> model = Model::Load(kSharedObject);
      if (!model.ok()) return;
      const Probabilities result = Classify(*model, NewInput(*model), t);
      right[t] = std::max_element(result.begin(), result.end()) - result.begin() == labels_[t];
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < kThreads; ++t) EXPECT_TRUE(right[t]) << "thread " << t;
}

}  // namespace
}  // namespace kiln::runtime
