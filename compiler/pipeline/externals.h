// SPDX-License-Identifier: Apache-2.0
// External code generators in the pipeline: the calls of compiler/external by RunStages and
// Compile.
#ifndef KILN_COMPILER_PIPELINE_EXTERNALS_H_
#define KILN_COMPILER_PIPELINE_EXTERNALS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/artifacts.h"
#include "compiler/external/external_module.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"
#include "compiler/passes/pass.h"

namespace kiln {

// Returns the context of the graph passes, with the evaluator and a partitioner over the chosen
// generators.
PassContext PassContextOf(const CompileOptions& options, const Target& target);

// Checks the subgraphs of the fused graph and makes modules of them. Fails if the runtime or the
// calling convention does not support a module. Later stages rely on the names of the modules'
// functions.
absl::StatusOr<std::vector<ExternalModule>> MakeExternalModules(const Graph& fused,
                                                                const CompileOptions& options);

// Returns <module>_<generator>.c for every chosen generator and every generator of a linkable
// module, and <module>_devices.c if a generator is chosen for a device. The files of the chosen
// generators depend only on the options, not on the model.
Artifacts ExternalSources(const CompileOptions& options, const std::vector<ExternalModule>& modules,
                          const std::string& device_hooks);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_EXTERNALS_H_
