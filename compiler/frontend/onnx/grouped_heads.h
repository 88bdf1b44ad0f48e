// SPDX-License-Identifier: Apache-2.0
// Attention in which several query heads share one head of keys and values ("grouped-query
// attention"). Exporters write it with keys and values repeated for each query head.
#ifndef KILN_COMPILER_FRONTEND_ONNX_GROUPED_HEADS_H_
#define KILN_COMPILER_FRONTEND_ONNX_GROUPED_HEADS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// Returns the matrix product a b if `b` is Reshape(Expand(Unsqueeze(x))), which repeats each matrix
// of x, or that with the last two dimensions exchanged. Nothing is repeated: the rows of `a` that
// multiply the same matrix become the rows of one product. Absent for any other `b`.
absl::StatusOr<std::optional<ValueId>> ProductOfGroupedHeads(Converter& c, ValueId a, ValueId b);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_GROUPED_HEADS_H_
