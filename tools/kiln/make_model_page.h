// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_MAKE_MODEL_PAGE_H_
#define KILN_TOOLS_KILN_MAKE_MODEL_PAGE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"

namespace kiln::tools {

// Returns the page of `kiln inspect --html` for the model in `path`. `graph` is the imported model
// and `compilation` its compilation. `profile` is a file with the output of bench --profile --json.
// With the C runtime and LLVM, the page shows the size of each operator's code.
absl::StatusOr<std::string> MakeModelPage(const std::string& path, const Graph& graph,
                                          const Compilation& compilation,
                                          const CompileOptions& options,
                                          const std::optional<std::string>& profile);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MAKE_MODEL_PAGE_H_
