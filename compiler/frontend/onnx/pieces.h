// SPDX-License-Identifier: Apache-2.0
// Splitting and joining of tensors, for control flow, sequences and recurrent operators.
#ifndef KILN_COMPILER_FRONTEND_ONNX_PIECES_H_
#define KILN_COMPILER_FRONTEND_ONNX_PIECES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// Limit of the attribute num_heads.
inline constexpr int64_t kMaxHeads = 1 << 16;

// x[…, index, …] along a valid axis. The result does not have this axis.
absl::StatusOr<ValueId> PieceAt(Converter& c, ValueId x, int64_t axis, int64_t index);

// Returns PieceAt for every index. A single function computes all pieces, so that readers do not
// depend on the index of their piece. The steps of a loop over the pieces thus share their code.
absl::StatusOr<std::vector<ValueId>> AllPieces(Converter& c, ValueId x, int64_t axis);

// x[…, begin:end, …] along a valid axis.
absl::StatusOr<ValueId> Piece(Converter& c, ValueId x, int64_t axis, int64_t begin, int64_t end);

// Concatenates tensors along an axis that they have. Tensors whose extent there is 0 are skipped.
absl::StatusOr<ValueId> Joined(Converter& c, const std::vector<ValueId>& values, int64_t axis);

// Stacks tensors of one type along a new axis, from 0 to their rank. A single function joins many
// tensors. Functions that write them directly into the result would all differ.
absl::StatusOr<ValueId> Stacked(Converter& c, const std::vector<ValueId>& values, int64_t axis);

// Transposes x, or reshapes it if only extents of 1 move.
absl::StatusOr<ValueId> Permuted(Converter& c, ValueId x, const std::vector<int64_t>& axes);

// Return the single element of a tensor as a bool (true if it is not 0) or an integer. Wrong if the
// tensor does not have exactly one element.
absl::StatusOr<bool> AsBool(const Tensor& tensor, absl::string_view what);
absl::StatusOr<int64_t> AsInt(const Tensor& tensor, absl::string_view what);
// Returns the single element of a tensor as a tensor of rank 0.
absl::StatusOr<Tensor> AsScalar(const Tensor& tensor, absl::string_view what);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_PIECES_H_
