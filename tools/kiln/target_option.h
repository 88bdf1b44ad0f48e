// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_TARGET_OPTION_H_
#define KILN_TOOLS_KILN_TARGET_OPTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"

namespace kiln::tools {

// Parses the value of --target. An empty one denotes this machine. InvalidArgument for an unknown
// name, with the most similar known one.
absl::StatusOr<Target> ParseTargetOption(const std::string& text);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_TARGET_OPTION_H_
