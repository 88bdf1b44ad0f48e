// SPDX-License-Identifier: Apache-2.0
// NumPy's broadcasting: shapes are aligned at their last dimension, and an extent of 1 fits every
// extent.
#ifndef KILN_COMPILER_OPS_BROADCAST_H_
#define KILN_COMPILER_OPS_BROADCAST_H_

#include "absl/status/statusor.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// Returns the common shape. Shapes that have none violate `constraint`.
absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b, int constraint);

// Access to a tensor of `shape` with the indices of a shape that it broadcasts to.
Access Broadcast(Access x, Shape shape);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_BROADCAST_H_
