// SPDX-License-Identifier: Apache-2.0
// Other programs that the tool runs.
#ifndef KILN_TOOLS_KILN_RUN_PROGRAM_H_
#define KILN_TOOLS_KILN_RUN_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln::tools {

// What RunProgram returns for a program that it has ended.
inline constexpr int kNoEnd = -1;

// Runs a program without input; what it writes goes to the file `log`. Its exit status, 128 more
// than the signal that ended it, or kNoEnd after `timeout_seconds` (0: no limit). NotFound, with
// the system's words alone, if it cannot be run.
absl::StatusOr<int> RunProgram(const std::vector<std::string>& argv, const std::string& log,
                               int timeout_seconds = 0);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_RUN_PROGRAM_H_
