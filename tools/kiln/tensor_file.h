// SPDX-License-Identifier: Apache-2.0
// Tensors in files: NumPy's .npy and serialized onnx.TensorProto (.pb).
#ifndef KILN_TOOLS_KILN_TENSOR_FILE_H_
#define KILN_TOOLS_KILN_TENSOR_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"

namespace kiln::tools {

// Reads a tensor. The extension, .npy or .pb, selects the format.
absl::StatusOr<Tensor> ReadTensorFile(const std::string& path);

// Returns the file name of a tensor without extension. Characters other than letters, digits, '-',
// '.' and '_' become '_'.
std::string TensorFileName(absl::string_view name);

// Returns random values from a fixed seed: floats from -1 to 1, or integers in the range of int8,
// restricted to the dtype's range.
Tensor RandomTensor(const TensorType& type, uint32_t seed);
// The seed of the random tensor for a model's first input; the next input has the next seed.
inline constexpr uint32_t kFirstInputSeed = 1;

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_TENSOR_FILE_H_
