// SPDX-License-Identifier: Apache-2.0
// Taking tensors apart and putting them together, as control flow, sequences and recurrent
// operators do.
#ifndef KILN_COMPILER_FRONTEND_ONNX_PIECES_H_
#define KILN_COMPILER_FRONTEND_ONNX_PIECES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// x[…, index, …] along a valid axis, which the result does not have.
absl::StatusOr<ValueId> PieceAt(Converter& c, ValueId x, int64_t axis, int64_t index);

// PieceAt of every index. One function makes them all, so that what reads a piece does not know
// which it is: the steps of a loop over the pieces are the same code.
absl::StatusOr<std::vector<ValueId>> AllPieces(Converter& c, ValueId x, int64_t axis);

// x[…, begin:end, …] along a valid axis.
absl::StatusOr<ValueId> Piece(Converter& c, ValueId x, int64_t axis, int64_t begin, int64_t end);

// Tensors side by side along an axis that they have. Those without elements there add nothing.
absl::StatusOr<ValueId> Joined(Converter& c, const std::vector<ValueId>& values, int64_t axis);

// Tensors of one type along a new axis, 0 to their rank. Many are put together by one function, for
// the same reason: functions that write them into their places are all different.
absl::StatusOr<ValueId> Stacked(Converter& c, const std::vector<ValueId>& values, int64_t axis);

// A transposition; a reshape where only extents of 1 move.
absl::StatusOr<ValueId> Permuted(Converter& c, ValueId x, const std::vector<int64_t>& axes);

// A bool, or a number that is 0 or not; Wrong if the tensor has several elements.
absl::StatusOr<bool> AsBool(const Tensor& tensor, absl::string_view what);
absl::StatusOr<int64_t> AsInt(const Tensor& tensor, absl::string_view what);
// The one element of a tensor, as a tensor of rank 0.
absl::StatusOr<Tensor> AsScalar(const Tensor& tensor, absl::string_view what);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_PIECES_H_
