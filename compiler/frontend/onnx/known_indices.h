// SPDX-License-Identifier: Apache-2.0
// Checks of indices that are constants in a model.
#ifndef KILN_COMPILER_FRONTEND_ONNX_KNOWN_INDICES_H_
#define KILN_COMPILER_FRONTEND_ONNX_KNOWN_INDICES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// InvalidArgument if the indices are known and one of them is not within -extent … extent - 1. The
// indices of one place lie along the last dimension, and each has its own extent.
absl::Status CheckKnownIndices(Converter& c, ValueId indices, absl::Span<const int64_t> extents);

// Returns the indices of places (input 1 of GatherND and ScatterND) in Relay's layout. The
// dimension over the indices of one place is first in Relay and last in ONNX. Known indices are
// checked. `extents` are the leading dimensions that a place indexes.
absl::StatusOr<ValueId> IndicesOfPlaces(Converter& c, absl::Span<const int64_t> extents);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_KNOWN_INDICES_H_
