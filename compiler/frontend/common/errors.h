// SPDX-License-Identifier: Apache-2.0
// What importers say of an operator that is not as it should be.
#ifndef KILN_COMPILER_FRONTEND_COMMON_ERRORS_H_
#define KILN_COMPILER_FRONTEND_COMMON_ERRORS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::frontend {

// InvalidArgument: `what` of an operator, found and wanted.
absl::Status Wrong(absl::string_view what, absl::string_view found, absl::string_view wanted);

// A non-negative axis of a tensor of `rank` dimensions.
absl::StatusOr<int64_t> NormalAxis(int64_t axis, int64_t rank);
// The same for each; all axes where there are none.
absl::StatusOr<std::vector<int64_t>> NormalAxes(std::vector<int64_t> axes, int64_t rank);

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_ERRORS_H_
