// SPDX-License-Identifier: Apache-2.0
// Errors of importers about an operator.
#ifndef KILN_COMPILER_FRONTEND_COMMON_ERRORS_H_
#define KILN_COMPILER_FRONTEND_COMMON_ERRORS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::frontend {

// Returns InvalidArgument "<what>: found <found>, wanted <wanted>".
absl::Status Wrong(absl::string_view what, absl::string_view found, absl::string_view wanted);

// Returns the axis as a non-negative number, for a tensor of `rank` dimensions.
absl::StatusOr<int64_t> NormalAxis(int64_t axis, int64_t rank);
// Applies NormalAxis to each axis. Returns all axes if `axes` is empty.
absl::StatusOr<std::vector<int64_t>> NormalAxes(std::vector<int64_t> axes, int64_t rank);

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_ERRORS_H_
