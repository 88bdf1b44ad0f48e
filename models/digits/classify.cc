// SPDX-License-Identifier: Apache-2.0
// Reads handwritten digits with a compiled model. The program needs only the shared object:
//
//   classify digits.so test_images.npy [test_labels.npy]
//
// Shows a few images with the model's answers. Then prints the accuracy (if labels are given), the
// time per image, and the memory that the model needs. The functions LoadDigits, ReadConstantBytes
// and Classify contain all calls of Kiln.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"

namespace {

using kiln::runtime::Model;
using kiln::runtime::ModelMetadata;
using kiln::runtime::Module;
using kiln::runtime::NDArray;
using kiln::runtime::TensorInfo;

constexpr size_t kSide = 8;  // an image has 8 x 8 pixels…
constexpr size_t kPixels = kSide * kSide;
constexpr float kFullInk = 16;  // …with values from 0 (paper) to 16 (ink)
constexpr size_t kClasses = 10;
constexpr size_t kShownImages = 3;
constexpr absl::string_view kShades = " .:-=+*#%@";

using Image = std::array<uint8_t, kPixels>;

struct Prediction {
  size_t digit = 0;
  float probability = 0;
};

// Returns the data of a NumPy file of bytes with a shape that ends in `item_bytes` elements per
// item. The header is text; its length is stated at the beginning of the file.
absl::StatusOr<std::string> ReadNpyBytes(const std::string& path, size_t item_bytes) {
  constexpr size_t kPrefix = 10;
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.size() < kPrefix || bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no .npy file of version 1"));
  }
  const size_t header_bytes =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(kPrefix, header_bytes);
  bytes.erase(0, kPrefix + header_bytes);
  if (header.find("'|u1'") == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos || bytes.empty() ||
      bytes.size() % item_bytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found ", header, " wanted uint8 in items of ", item_bytes, " bytes"));
  }
  return bytes;
}

absl::StatusOr<std::vector<Image>> ReadImages(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadNpyBytes(path, kPixels);
  if (!bytes.ok()) return bytes.status();
  std::vector<Image> images(bytes->size() / kPixels);
  std::memcpy(images.data(), bytes->data(), bytes->size());
  return images;
}

// Returns the model in the factory if it reads digits: [1, 1, 8, 8] floats in, 10 probabilities
// out.
absl::StatusOr<Model> LoadDigits(const Module& factory) {
  absl::StatusOr<Model> model = Model::FromModule(factory);
  if (!model.ok()) return model.status();
  const std::vector<TensorInfo>&inputs = model->inputs(), &outputs = model->outputs();
  if (inputs.size() != 1 || inputs[0].size_bytes != sizeof(float) * kPixels ||
      outputs.size() != 1 || outputs[0].size_bytes != sizeof(float) * kClasses) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model '", model->name(), "' reads no images of 8 x 8 pixels"));
  }
  return model;
}

// Returns the size of the weights from the model's metadata. The weights are part of the library,
// which the system maps into memory and shares between processes.
absl::StatusOr<int64_t> ReadConstantBytes(const Module& factory) {
  absl::StatusOr<ModelMetadata> metadata = ModelMetadata::Find(factory);
  if (!metadata.ok()) return metadata.status();
  return metadata->run_model().constant_size_bytes();
}

absl::StatusOr<Prediction> Classify(const Model& model, const NDArray& input, const Image& image) {
  std::transform(image.begin(), image.end(), input.values<float>().begin(),
                 [](uint8_t pixel) { return pixel / kFullInk; });
  absl::StatusOr<std::vector<NDArray>> outputs = model.Run({input});
  if (!outputs.ok()) return outputs.status();
  const absl::Span<float> probabilities = outputs->front().values<float>();
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  return Prediction{static_cast<size_t>(best - probabilities.begin()), *best};
}

void Show(size_t number, const Image& image, const Prediction& prediction) {
  std::printf("Image %zu:\n", number);
  for (size_t y = 0; y < kSide; ++y) {
    std::string line;
    for (size_t x = 0; x < kSide; ++x) {
      const size_t ink = std::min<size_t>(image[y * kSide + x], static_cast<size_t>(kFullInk));
      line.append(2, kShades[ink * (kShades.size() - 1) / static_cast<size_t>(kFullInk)]);
    }
    std::printf("    %s\n", line.c_str());
  }
  std::printf("  This is a %zu, says the model; it is %.1f %% sure.\n\n", prediction.digit,
              100 * static_cast<double>(prediction.probability));
}

absl::Status Run(const std::string& library, const std::string& images_path,
                 const std::string& labels_path) {
  using Clock = std::chrono::steady_clock;
  absl::StatusOr<Module> factory = Module::LoadFromFile(library);
  if (!factory.ok()) return factory.status();
  absl::StatusOr<Model> model = LoadDigits(*factory);
  if (!model.ok()) return model.status();
  absl::StatusOr<int64_t> constant_bytes = ReadConstantBytes(*factory);
  if (!constant_bytes.ok()) return constant_bytes.status();
  absl::StatusOr<std::vector<Image>> images = ReadImages(images_path);
  if (!images.ok()) return images.status();
  std::string labels;
  if (!labels_path.empty()) {
    absl::StatusOr<std::string> bytes = ReadNpyBytes(labels_path, 1);
    if (!bytes.ok()) return bytes.status();
    labels = *std::move(bytes);
    if (labels.size() != images->size()) {
      return absl::InvalidArgumentError(absl::StrCat(labels_path, ": found ", labels.size(),
                                                     " labels for ", images->size(), " images"));
    }
  }

  const TensorInfo& info = model->inputs()[0];
  absl::StatusOr<NDArray> input = NDArray::Empty(info.shape, info.dtype, info.device);
  if (!input.ok()) return input.status();
  std::vector<double> microseconds;
  size_t right = 0;
  for (size_t i = 0; i < images->size(); ++i) {
    const Image& image = (*images)[i];
    const Clock::time_point begin = Clock::now();
    absl::StatusOr<Prediction> prediction = Classify(*model, *input, image);
    microseconds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    if (!prediction.ok()) return prediction.status();
    if (i < kShownImages) Show(i + 1, image, *prediction);
    if (!labels.empty()) right += prediction->digit == static_cast<size_t>(labels[i]);
  }

  const size_t n = images->size();
  if (!labels.empty()) {
    std::printf("Right:   %zu of %zu images that the model has never seen (%.2f %%)\n", right, n,
                100 * static_cast<double>(right) / static_cast<double>(n));
  }
  std::nth_element(microseconds.begin(), microseconds.begin() + static_cast<ptrdiff_t>(n / 2),
                   microseconds.end());
  std::printf("Time:    %.1f microseconds for one image (median of %zu)\n", microseconds[n / 2], n);
  std::printf(
      "Memory:  %.1f KiB of scratch while it runs, %.1f KiB of weights in the library, read where "
      "they are\n",
      static_cast<double>(model->workspace_bytes()) / 1024,
      static_cast<double>(*constant_bytes) / 1024);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: classify digits.so test_images.npy [test_labels.npy]\n");
    return 2;
  }
  const absl::Status status = Run(argv[1], argv[2], argc == 4 ? argv[3] : "");
  if (status.ok()) return 0;
  std::fprintf(stderr, "classify: %s\n", std::string(status.message()).c_str());
  return 1;
}
