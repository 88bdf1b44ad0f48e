// SPDX-License-Identifier: Apache-2.0
// Axes as attributes give them: negative ones count from the end.
#ifndef KILN_COMPILER_OPS_AXES_H_
#define KILN_COMPILER_OPS_AXES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/attrs.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// The axis as 0 … rank-1; a violation of `constraint` if it is not within -rank … rank-1.
absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank, int constraint);
// The same where `infer` has checked it.
inline size_t AxisOf(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

// Every axis normalized, in the order given; a violation of `constraint` if one is out of range or
// stands twice.
absl::StatusOr<std::vector<int>> NormalizeAxes(const std::vector<int64_t>& axes, int rank,
                                               int constraint);

// The dimension of data that each dimension of the result of a transpose is, from its attribute
// `axes` (None: in reverse); a violation of `constraint` if that has not every axis once.
absl::StatusOr<std::vector<int>> TransposeAxes(const Attrs& attrs, int rank, int constraint);

// Whether a transpose by `axes` of a tensor of this shape moves nothing but extents of 1, as a
// reshape may.
bool MovesOnlyOnes(const Shape& shape, const std::vector<int64_t>& axes);

// For each dimension whether a reduction with the attributes `axis` (None: all), and `exclude` (the
// axes that are kept), reduces it.
absl::StatusOr<std::vector<bool>> ReducedAxes(const Attrs& attrs, int rank, int constraint);

// Extents of a reduced tensor: the reduced ones are 1 with keepdims, else dropped.
Shape ReducedShape(const Shape& shape, const std::vector<bool>& reduced, bool keepdims);
// Extents that are reduced.
Shape ReductionExtents(const Shape& shape, const std::vector<bool>& reduced);
// The index into the data for an index of the reduced tensor and one of the reduction.
Indices UnreducedIndex(const Indices& i, const Indices& r, const std::vector<bool>& reduced,
                       bool keepdims);
// The index into a tensor reduced without keepdims, for an index of the data.
Indices ReducedIndex(const Indices& i, const std::vector<bool>& reduced);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_AXES_H_
