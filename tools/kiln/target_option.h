// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_TARGET_OPTION_H_
#define KILN_TOOLS_KILN_TARGET_OPTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"

namespace kiln::tools {

// The value of --target; of an empty one, this machine. InvalidArgument for a name that is not
// known, with the one that was probably meant.
absl::StatusOr<Target> ParseTargetOption(const std::string& text);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_TARGET_OPTION_H_
