// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_C_COMPILER_H_
#define KILN_TOOLS_KILN_C_COMPILER_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/artifacts.h"
#include "compiler/target/target.h"

namespace kiln::tools {

// Runs the system's C compiler (`cc`) on all generated C and objects of a model and returns the
// shared object. InvalidArgument if there is no compiler, if the target is not this kind of
// machine, or if the compiler does not know an option of it; Internal with the compiler's words if
// it fails.
absl::StatusOr<std::string> LinkSharedObject(const Artifacts& artifacts, const std::string& name,
                                             const Target& target);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_C_COMPILER_H_
