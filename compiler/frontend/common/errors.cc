// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/errors.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::frontend {

absl::Status Wrong(absl::string_view what, absl::string_view found, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat(what, ": found ", found, ", wanted ", wanted));
}

absl::StatusOr<int64_t> NormalAxis(int64_t axis, int64_t rank) {
  const int64_t normal = axis < 0 ? axis + rank : axis;
  if (normal >= 0 && normal < rank) return normal;
  return Wrong("axis", absl::StrCat(axis), absl::StrCat(-rank, " to ", rank - 1));
}

absl::StatusOr<std::vector<int64_t>> NormalAxes(std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) {
    KILN_ASSIGN_OR_RETURN(axis, NormalAxis(axis, rank));
  }
  if (axes.empty()) {
    for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  return axes;
}

}  // namespace kiln::frontend
