// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_MLF_SHA256_H_
#define KILN_MLF_SHA256_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kiln::mlf {

// SHA-256 as `sha256sum` prints it: 64 hexadecimal digits in lower case.
std::string Sha256(absl::string_view bytes);

}  // namespace kiln::mlf

#endif  // KILN_MLF_SHA256_H_
