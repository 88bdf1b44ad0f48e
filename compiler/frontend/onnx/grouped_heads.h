// SPDX-License-Identifier: Apache-2.0
// Attention in which several heads of queries read one head of keys and values ("grouped-query
// attention"), as exporters write it: keys and values are repeated for each of the heads.
#ifndef KILN_COMPILER_FRONTEND_ONNX_GROUPED_HEADS_H_
#define KILN_COMPILER_FRONTEND_ONNX_GROUPED_HEADS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// The product a b of matrices, where `b` is Reshape(Expand(Unsqueeze(x))) that repeats each of the
// matrices x, or that with its last two dimensions exchanged. The rows of `a` that meet one matrix become
// the rows of one product, so that nothing is repeated. None if `b` is something else.
absl::StatusOr<std::optional<ValueId>> ProductOfGroupedHeads(Converter& c, ValueId a, ValueId b);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_GROUPED_HEADS_H_
