// SPDX-License-Identifier: Apache-2.0
// Axes as attributes give them: negative axes count from the end.
#ifndef KILN_COMPILER_OPS_AXES_H_
#define KILN_COMPILER_OPS_AXES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/attrs.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// Returns the axis as 0 … rank-1. An axis not in -rank … rank-1 violates `constraint`.
absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank, int constraint);
// The same for an axis that `infer` has checked.
inline size_t AxisOf(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

// Returns every axis normalized, in the given order. An axis that is out of range or occurs
// twice violates `constraint`.
absl::StatusOr<std::vector<int>> NormalizeAxes(const std::vector<int64_t>& axes, int rank,
                                               int constraint);

// Returns the dimension of data for each dimension of a transpose's result, from its attribute
// `axes` (None: reversed). `axes` without exactly every axis violates `constraint`.
absl::StatusOr<std::vector<int>> TransposeAxes(const Attrs& attrs, int rank, int constraint);

// True if a transpose of this shape by `axes` moves only dimensions of extent 1, so that
// a reshape does the same.
bool MovesOnlyOnes(const Shape& shape, const std::vector<int64_t>& axes);

// Returns for each dimension whether a reduction reduces it, from the attribute `axis` (None: all
// dimensions). The attribute `exclude` inverts the choice: `axis` has the dimensions that are kept.
absl::StatusOr<std::vector<bool>> ReducedAxes(const Attrs& attrs, int rank, int constraint);

// Extents of a reduced tensor: reduced dimensions are 1 with keepdims, else dropped.
Shape ReducedShape(const Shape& shape, const std::vector<bool>& reduced, bool keepdims);
// Extents of the reduced dimensions.
Shape ReductionExtents(const Shape& shape, const std::vector<bool>& reduced);
// The index into the data for index i of the reduced tensor and index r of the reduction.
Indices UnreducedIndex(const Indices& i, const Indices& r, const std::vector<bool>& reduced,
                       bool keepdims);
// The index into a tensor reduced without keepdims, for index i of the data.
Indices ReducedIndex(const Indices& i, const std::vector<bool>& reduced);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_AXES_H_
