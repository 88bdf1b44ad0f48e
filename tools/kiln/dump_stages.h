// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_DUMP_STAGES_H_
#define KILN_TOOLS_KILN_DUMP_STAGES_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"

namespace kiln::tools {

// Writes one numbered file per pass and stage to `folder`. If the compilation fails, writes the
// files of the stages before the failure.
absl::Status DumpStages(const std::string& folder, const Graph& graph,
                        const CompileOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_DUMP_STAGES_H_
