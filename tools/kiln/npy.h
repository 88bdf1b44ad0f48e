// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy format. Versions 1 to 3, C's and Fortran's order of elements, little and big endian are
// read; version 1, C's order and little endian are written.
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
