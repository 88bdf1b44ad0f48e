// SPDX-License-Identifier: Apache-2.0
// Advice to users on operators that Kiln does not have.
#ifndef KILN_COMPILER_FRONTEND_ONNX_ADVICE_H_
#define KILN_COMPILER_FRONTEND_ONNX_ADVICE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kiln::onnx_frontend {

// Advice on strings, which no model of Kiln has.
inline constexpr char kAdviceOnStrings[] =
    "turn strings into numbers, such as token ids or indices of categories, before the model";

// "; " and a clause to follow the error, or nothing where there is nothing to say. The domain is
// normalized: ONNX's own is "".
std::string AdviceOn(absl::string_view domain, absl::string_view op);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_ADVICE_H_
