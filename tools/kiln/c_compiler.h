// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_C_COMPILER_H_
#define KILN_TOOLS_KILN_C_COMPILER_H_

#include "absl/status/status.h"
#include "compiler/base/artifacts.h"
#include "compiler/compile.h"

namespace kiln::tools {

// Adds <module>.so to a model of the C++ runtime where Compile has left C and objects in its place:
// runs the system's C compiler (`cc`) on all of them. InvalidArgument if there is no compiler, if
// the target is not this kind of machine, or if the compiler does not know an option of it;
// Internal with the compiler's words if it fails.
absl::Status LinkParts(const CompileOptions& options, Artifacts& artifacts);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_C_COMPILER_H_
