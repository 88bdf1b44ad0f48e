// SPDX-License-Identifier: Apache-2.0
// Tensors in files: NumPy's .npy and serialized onnx.TensorProto (.pb).
#ifndef KILN_TOOLS_KILN_TENSOR_FILE_H_
#define KILN_TOOLS_KILN_TENSOR_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"

namespace kiln::tools {

// By the file's ending: .npy or .pb.
absl::StatusOr<Tensor> ReadTensorFile(const std::string& path);

// The name of a tensor as that of a file, without its ending: what is no letter, digit, '-', '.' or
// '_' is '_' there.
std::string TensorFileName(absl::string_view name);

// Values by a fixed seed: floats from -1 to 1, integers over the range of int8 (or what the dtype
// has of it).
Tensor RandomTensor(const TensorType& type, uint32_t seed);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_TENSOR_FILE_H_
