// SPDX-License-Identifier: Apache-2.0
// The option --fail-on-slow, and the notes without it.
#ifndef KILN_TOOLS_KILN_SLOW_PATHS_OPTION_H_
#define KILN_TOOLS_KILN_SLOW_PATHS_OPTION_H_

#include "absl/status/status.h"
#include "compiler/lower/lower.h"
#include "compiler/target/target.h"

namespace kiln::tools {

// Notes on standard error the functions that only have a slow path on the target; the most costly
// ones with node, operators and cost. If `fails` is set, returns them as InvalidArgument instead.
absl::Status ReportSlowPaths(const Lowered& lowered, const Target& target, bool fails);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_SLOW_PATHS_OPTION_H_
