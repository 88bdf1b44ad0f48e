// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy format. Reading supports versions 1 to 3, C's and Fortran's order of elements, and
// both byte orders. Writing uses version 1, C's order and little endian.
#ifndef KILN_TOOLS_KILN_NPY_H_
#define KILN_TOOLS_KILN_NPY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"

namespace kiln::tools {

// Parses the bytes of a file. InvalidArgument describes the error.
absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes);
// Returns the bytes of a file.
std::string ToNpy(const Tensor& tensor);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_NPY_H_
