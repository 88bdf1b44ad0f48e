// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_BASE_SHA256_H_
#define KILN_COMPILER_BASE_SHA256_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln {

// SHA-256 as `sha256sum` prints it: 64 hexadecimal digits in lower case.
std::string Sha256(absl::string_view bytes);

// The same for the contents of a file, which is read in pieces. NotFound, with the path, if the
// file cannot be read.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_SHA256_H_
