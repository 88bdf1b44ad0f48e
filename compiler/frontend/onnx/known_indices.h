// SPDX-License-Identifier: Apache-2.0
// Indices that a model has as constants are checked when it is read.
#ifndef KILN_COMPILER_FRONTEND_ONNX_KNOWN_INDICES_H_
#define KILN_COMPILER_FRONTEND_ONNX_KNOWN_INDICES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// InvalidArgument if the indices are known, and one of them is not within -extent … extent - 1.
// Where a place has several indices, which lie along the last dimension, each has its extent.
absl::Status CheckKnownIndices(Converter& c, ValueId indices, absl::Span<const int64_t> extents);

// The indices of places, input 1 of GatherND and ScatterND, as Relay has them: the dimension of the
// indices of one place is the first, which ONNX has last. Known ones are checked; `extents` are
// those of the dimensions from the first on that a place has an index of.
absl::StatusOr<ValueId> IndicesOfPlaces(Converter& c, absl::Span<const int64_t> extents);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_KNOWN_INDICES_H_
