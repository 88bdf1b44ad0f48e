// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/tensor_file.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/import.h"
#include "tools/kiln/files.h"
#include "tools/kiln/npy.h"

namespace kiln::tools {

absl::StatusOr<Tensor> ReadTensorFile(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxModelFileBytes));
  absl::StatusOr<Tensor> tensor =
      absl::EndsWith(path, ".npy") ? ParseNpy(bytes)
      : absl::EndsWith(path, ".pb")
          ? onnx_frontend::ParseOnnxTensor(bytes)
          : absl::InvalidArgumentError(
                absl::EndsWith(path, ".npz")
                    ? "is a zip archive of .npy files, wanted one of them: unpack it first"
                    : "wanted a file that ends in .npy or .pb");
  if (!tensor.ok()) return Annotate(tensor.status(), path + ": ");
  return tensor;
}

std::string TensorFileName(absl::string_view name) {
  std::string file(name);
  for (char& c : file) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  }
  return file;
}

Tensor RandomTensor(const TensorType& type, uint32_t seed) {
  // A linear congruential generator (Numerical Recipes) gives the same inputs on every machine.
  uint32_t state = seed;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  const size_t n = static_cast<size_t>(type.num_elements());
  if (type.dtype == DType::Float(32)) {
    std::vector<float> values(n);
    for (float& v : values) v = static_cast<float>(next()) / 8388608.0f - 1.0f;
    return Tensor::From<float>(type.shape, type.dtype, values);
  }
  std::string bytes;
  bytes.reserve(static_cast<size_t>(type.num_bytes()));
  for (size_t i = 0; i < n; ++i) {
    const double unit = static_cast<double>(next()) / 8388608.0 - 1.0;
    const double value = type.dtype.is_float()  ? unit
                         : type.dtype.is_bool() ? (unit > 0 ? 1.0 : 0.0)
                         : type.dtype.is_uint() ? std::floor((unit + 1) * 127)
                                                : std::floor(unit * 127);
    bytes += Tensor::Scalar(type.dtype, value).bytes();
  }
  return Tensor(type, std::move(bytes));
}

}  // namespace kiln::tools
