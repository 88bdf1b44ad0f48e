// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/calibration_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;
using quantize::ModelInput;
using quantize::Sample;

constexpr absl::string_view kOption = "--calibration: ";
constexpr char kEnding[] = ".npy";

absl::StatusOr<std::vector<std::string>> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() == kEnding && !entries->is_directory(error)) {
      files.push_back(entries->path().string());
    }
  }
  if (error) {
    return absl::InvalidArgumentError(absl::StrCat(kOption, folder, ": ", error.message()));
  }
  if (files.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(kOption, folder, ": found no .npy file in this folder, wanted one at least"));
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::vector<std::string>> FilesOf(const std::string& path, const ModelInput& input,
                                                 bool only_input) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(kOption, path, ": no such folder"));
  }
  const fs::path own = fs::path(path) / TensorFileName(input.name);
  const std::string file = own.string() + kEnding;
  const bool is_folder = fs::is_directory(own, error);
  if (only_input) {
    if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
    return FilesIn(is_folder ? own.string() : path);
  }
  if (is_folder && fs::exists(file, error)) {
    return absl::InvalidArgumentError(absl::StrCat(kOption, "found both ", file, " and the folder ",
                                                   own.string(), ", wanted one of them"));
  }
  if (is_folder) return FilesIn(own.string());
  if (fs::exists(file, error)) return std::vector<std::string>{file};
  return absl::InvalidArgumentError(absl::StrCat(kOption, "found no ", file, " and no folder ",
                                                 own.string(), " for the input '", input.name,
                                                 "'"));
}

Shape WithoutOnes(Shape shape) {
  shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  return shape;
}

// Returns the number of samples of an input in an array; 0 if the shape does not fit.
int64_t CountSamples(const Shape& array, const Shape& input) {
  const Shape found = WithoutOnes(array), wanted = WithoutOnes(input);
  if (found == wanted) return 1;
  if (found.empty() || found[0] < 1) return 0;
  const Shape rest(found.begin() + 1, found.end());
  if (rest == wanted) return found[0];
  const bool batch = !wanted.empty() && wanted[0] > 0 &&
                     rest == Shape(wanted.begin() + 1, wanted.end()) && found[0] % wanted[0] == 0;
  return batch ? found[0] / wanted[0] : 0;
}

// Appends the samples of a file.
absl::Status ReadFileSamples(const std::string& file, const ModelInput& input, size_t max_samples,
                             std::vector<Tensor>& samples) {
  KILN_ASSIGN_OR_RETURN(const Tensor array, ReadTensorFile(file));
  const auto wrong = [&](absl::string_view found, absl::string_view wanted) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": found ", found, ", wanted ", wanted,
                                                   " for the input '", input.name, "'"));
  };
  if (array.type().dtype != input.type.dtype) {
    return wrong(array.type().dtype.ToString(), input.type.dtype.ToString());
  }
  const int64_t count = CountSamples(array.type().shape, input.type.shape);
  if (count == 0) {
    return wrong(absl::StrCat("the shape ", ShapeToString(array.type().shape)),
                 absl::StrCat(ShapeToString(input.type.shape),
                              ", or several of these along a leading axis,"));
  }
  const auto bytes = static_cast<size_t>(input.type.num_bytes());
  for (int64_t i = 0; i < count && (max_samples == 0 || samples.size() < max_samples); ++i) {
    Tensor sample(input.type, array.bytes().substr(static_cast<size_t>(i) * bytes, bytes));
    for (int64_t k = 0; input.type.dtype.is_float() && k < input.type.num_elements(); ++k) {
      if (std::isfinite(sample.AsDouble(k))) continue;
      return wrong(absl::StrCat(sample.AsDouble(k), " in sample ", i), "finite numbers");
    }
    samples.push_back(std::move(sample));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Sample>> ReadSamples(const std::string& path,
                                                const std::vector<ModelInput>& inputs,
                                                size_t max_samples,
                                                std::vector<std::string>& read) {
  std::vector<Sample> samples;
  for (const ModelInput& input : inputs) {
    KILN_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                          FilesOf(path, input, inputs.size() == 1));
    std::vector<Tensor> tensors;
    for (const std::string& file : files) {
      KILN_RETURN_IF_ERROR(ReadFileSamples(file, input, max_samples, tensors));
      read.push_back(file);
    }
    if (&input == &inputs[0]) samples.resize(tensors.size());
    if (tensors.size() != samples.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(kOption, "found ", tensors.size(), " samples of the input '", input.name,
                       "' and ", samples.size(), " of '", inputs[0].name, "', wanted as many"));
    }
    for (size_t i = 0; i < tensors.size(); ++i) samples[i][input.name] = std::move(tensors[i]);
  }
  return samples;
}

}  // namespace kiln::tools
