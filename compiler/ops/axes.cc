// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/axes.h"

#include <algorithm>

#include "compiler/ops/constraint.h"

namespace kiln {

absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank, int constraint) {
  KILN_CONSTRAINT(constraint, axis >= -rank && axis < rank, absl::StrCat("axis ", axis),
                  absl::StrCat("an axis of a tensor of rank ", rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<std::vector<int>> NormalizeAxes(const std::vector<int64_t>& axes, int rank,
                                               int constraint) {
  std::vector<int> result;
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (int64_t axis : axes) {
    KILN_ASSIGN_OR_RETURN(const int normal, NormalizeAxis(axis, rank, constraint));
    KILN_CONSTRAINT(constraint, !seen[static_cast<size_t>(normal)],
                    absl::StrCat("axis ", axis, " twice"), "every axis at most once");
    seen[static_cast<size_t>(normal)] = true;
    result.push_back(normal);
  }
  return result;
}

absl::StatusOr<std::vector<int>> TransposeAxes(const Attrs& attrs, int rank, int constraint) {
  if (attrs.IsNone("axes")) {
    std::vector<int> reversed;
    for (int d = rank - 1; d >= 0; --d) reversed.push_back(d);
    return reversed;
  }
  KILN_ASSIGN_OR_RETURN(std::vector<int> axes, NormalizeAxes(attrs.Ints("axes"), rank, constraint));
  KILN_CONSTRAINT(constraint, axes.size() == static_cast<size_t>(rank),
                  absl::StrCat(axes.size(), " axes"), absl::StrCat("all ", rank));
  return axes;
}

bool MovesOnlyOnes(const Shape& shape, const std::vector<int64_t>& axes) {
  std::vector<int64_t> moved = axes;
  std::erase_if(moved, [&](int64_t axis) { return shape[static_cast<size_t>(axis)] == 1; });
  return std::is_sorted(moved.begin(), moved.end());
}

absl::StatusOr<std::vector<bool>> ReducedAxes(const Attrs& attrs, int rank, int constraint) {
  const bool all = attrs.IsNone("axis");
  std::vector<bool> reduced(static_cast<size_t>(rank), all);
  KILN_ASSIGN_OR_RETURN(const std::vector<int> axes,
                        NormalizeAxes(attrs.Ints("axis"), rank, constraint));
  for (int axis : axes) reduced[static_cast<size_t>(axis)] = true;
  if (attrs.Has("exclude") && attrs.Bool("exclude")) reduced.flip();
  return reduced;
}

Shape ReducedShape(const Shape& shape, const std::vector<bool>& reduced, bool keepdims) {
  Shape result;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!reduced[d]) {
      result.push_back(shape[d]);
    } else if (keepdims) {
      result.push_back(1);
    }
  }
  return result;
}

Shape ReductionExtents(const Shape& shape, const std::vector<bool>& reduced) {
  Shape extents;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reduced[d]) extents.push_back(shape[d]);
  }
  return extents;
}

Indices UnreducedIndex(const Indices& i, const Indices& r, const std::vector<bool>& reduced,
                       bool keepdims) {
  Indices index;
  size_t next_i = 0, next_r = 0;
  for (bool is_reduced : reduced) {
    if (is_reduced && keepdims) ++next_i;
    index.push_back(is_reduced ? r[next_r++] : i[next_i++]);
  }
  return index;
}

Indices ReducedIndex(const Indices& i, const std::vector<bool>& reduced) {
  Indices index;
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (!reduced[d]) index.push_back(i[d]);
  }
  return index;
}

}  // namespace kiln
