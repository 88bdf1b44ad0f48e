// SPDX-License-Identifier: Apache-2.0
// The rows of ONNX's own transformer operators. operators.cc joins them with the others.
#ifndef KILN_COMPILER_FRONTEND_ONNX_TRANSFORMER_H_
#define KILN_COMPILER_FRONTEND_ONNX_TRANSFORMER_H_

#include "absl/types/span.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

absl::Span<const OnnxOperator> TransformerOperators();

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_TRANSFORMER_H_
