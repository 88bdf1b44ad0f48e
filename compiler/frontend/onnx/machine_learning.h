// SPDX-License-Identifier: Apache-2.0
// The rows of the domain ai.onnx.ml, by family. operators.cc joins them with the others.
#ifndef KILN_COMPILER_FRONTEND_ONNX_MACHINE_LEARNING_H_
#define KILN_COMPILER_FRONTEND_ONNX_MACHINE_LEARNING_H_

#include "absl/types/span.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

absl::Span<const OnnxOperator> FeatureOperators();
absl::Span<const OnnxOperator> LinearOperators();
absl::Span<const OnnxOperator> TreeOperators();

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_MACHINE_LEARNING_H_
