// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_C_COMPILER_H_
#define KILN_TOOLS_KILN_C_COMPILER_H_

#include "absl/status/status.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"

namespace kiln::tools {

// Completes <module>.so of a model for the C++ runtime and appends its checksum. If Compile has
// produced C and objects instead, the system's C compiler (`cc`) makes the shared object from them.
// InvalidArgument if there is no compiler, if the target is not this kind of machine, or if the
// compiler does not know a flag for the target. Internal, with the compiler's message, if the
// compilation fails.
absl::Status LinkParts(const CompileOptions& options, Compiled& compiled);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_C_COMPILER_H_
