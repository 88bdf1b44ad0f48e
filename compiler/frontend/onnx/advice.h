// SPDX-License-Identifier: Apache-2.0
// Advice to users on operators that Kiln does not support.
#ifndef KILN_COMPILER_FRONTEND_ONNX_ADVICE_H_
#define KILN_COMPILER_FRONTEND_ONNX_ADVICE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kiln::onnx_frontend {

// Advice on strings, which Kiln does not support in models.
inline constexpr char kAdviceOnStrings[] =
    "turn strings into numbers, such as token ids or indices of categories, before the model";

// Returns "; " and a clause to append to the error, or "" if there is no advice. The domain is
// normalized: ONNX's own domain is "".
std::string AdviceOn(absl::string_view domain, absl::string_view op);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_ADVICE_H_
