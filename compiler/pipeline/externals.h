// SPDX-License-Identifier: Apache-2.0
// External code generators in the pipeline: what RunStages and Compile ask of compiler/external.
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

// What the graph passes are given: the evaluator, and the partitioner over the chosen generators.
PassContext PassContextOf(const CompileOptions& options, const Target& target);

// Checks the subgraphs of the fused graph and makes modules of them that the runtime and the
// calling convention can take. What comes behind it relies on the names of their functions.
absl::StatusOr<std::vector<ExternalModule>> MakeExternalModules(const Graph& fused,
                                                                const CompileOptions& options);

// <module>_<generator>.c for every chosen generator and for those that the model names, and
// <module>_devices.c where a generator is chosen for a device: which files there are depends on the
// options alone.
Artifacts ExternalSources(const CompileOptions& options, const std::vector<ExternalModule>& modules,
                          const std::string& device_hooks);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_EXTERNALS_H_
