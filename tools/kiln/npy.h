// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy format of version 1, in C order and little endian.
#ifndef KILN_TOOLS_KILN_NPY_H_
#define KILN_TOOLS_KILN_NPY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"

namespace kiln::tools {

// From the bytes of a file. InvalidArgument with what is wrong.
absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes);
// The bytes of a file.
std::string ToNpy(const Tensor& tensor);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_NPY_H_
