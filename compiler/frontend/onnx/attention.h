// SPDX-License-Identifier: Apache-2.0
// Attention of com.microsoft. Attention has projections, scaled dot products of several heads, and
// keys and values of earlier positions. QAttention has projections of quantized tensors.
// MultiHeadAttention has no projections.
#ifndef KILN_COMPILER_FRONTEND_ONNX_ATTENTION_H_
#define KILN_COMPILER_FRONTEND_ONNX_ATTENTION_H_

#include "absl/status/status.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

absl::Status MicrosoftAttention(Converter& c);
absl::Status QAttention(Converter& c);
absl::Status MultiHeadAttention(Converter& c);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_ATTENTION_H_
