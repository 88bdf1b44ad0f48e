// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_C_COMPILER_H_
#define KILN_TOOLS_KILN_C_COMPILER_H_

#include "absl/status/status.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"

namespace kiln::tools {

// Completes <module>.so of a model of the C++ runtime: puts its checksum behind it and, where
// Compile has left C and objects in its place, makes it of them with the system's C compiler
// (`cc`). InvalidArgument if there is no compiler, if the target is not this kind of machine, or if
// the compiler does not know an option of it; Internal with the compiler's words if it fails.
absl::Status LinkParts(const CompileOptions& options, Compiled& compiled);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_C_COMPILER_H_
