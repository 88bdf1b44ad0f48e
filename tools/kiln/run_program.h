// SPDX-License-Identifier: Apache-2.0
// Runs other programs.
#ifndef KILN_TOOLS_KILN_RUN_PROGRAM_H_
#define KILN_TOOLS_KILN_RUN_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln::tools {

// Result of RunProgram for a program that ran into the timeout.
inline constexpr int kNoEnd = -1;

// Runs a program without input. Its output goes to the file `log`. Returns its exit status, 128
// plus the signal that ended it, or kNoEnd after `timeout_seconds` (0: no limit). NotFound, with
// only the system's message, if it cannot be run.
absl::StatusOr<int> RunProgram(const std::vector<std::string>& argv, const std::string& log,
                               int timeout_seconds = 0);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_RUN_PROGRAM_H_
