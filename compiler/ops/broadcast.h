// SPDX-License-Identifier: Apache-2.0
// NumPy's broadcasting: shapes are aligned at their last dimension, and an extent of 1 fits every
// extent.
#ifndef KILN_COMPILER_OPS_BROADCAST_H_
#define KILN_COMPILER_OPS_BROADCAST_H_

#include "absl/status/statusor.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// The common shape; a violation of `constraint` where there is none.
absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b, int constraint);

// A tensor of `shape` as one that is read with the indices of a shape that it broadcasts to.
Access Broadcast(Access x, Shape shape);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_BROADCAST_H_
