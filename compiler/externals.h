// SPDX-License-Identifier: Apache-2.0
// External code generators in the pipeline: what RunStages and Compile ask of compiler/external.
#ifndef KILN_COMPILER_EXTERNALS_H_
#define KILN_COMPILER_EXTERNALS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/compile.h"
#include "compiler/executor/device_hooks.h"

namespace kiln {

// What the graph passes are given: the evaluator, and the partitioner over the chosen generators.
PassContext PassContextOf(const CompileOptions& options, const Target& target);

// Checks the subgraphs of the fused graph and makes modules of them that the runtime and the
// calling convention can take. What comes behind it relies on the names of their functions.
absl::StatusOr<std::vector<ExternalModule>> MakeExternalModules(const Graph& fused,
                                                                const CompileOptions& options);

// Completes what the metadata says of the modules' functions.
void DescribeExternals(const std::vector<ExternalModule>& modules, proto::Metadata& metadata);

// Functions of modules that are bytes are looked up by name, and are no symbols of the object.
void SetExternalConvention(const std::vector<ExternalModule>& modules, loop::LoopProgram& program);

// Linkable functions that the program does not export itself: for the registry of the C runtime.
std::vector<std::string> RegisteredExternals(const std::vector<ExternalModule>& modules,
                                             const loop::LoopProgram& program);

// Which functions run on devices with hooks, by device in the order of the modules.
std::vector<DeviceUse> DeviceUses(const std::vector<ExternalModule>& modules);

// Whether code outside of the program has to be linked with it.
bool HasExternalSource(const std::vector<ExternalModule>& modules);

// <module>_<generator>.c for every chosen generator and for those that the model names, and
// <module>_devices.c where a generator is chosen for a device: which files there are depends on the
// options alone.
Artifacts ExternalSources(const CompileOptions& options, const Stages& stages);

// The modules as text: type, functions, constants; C source in full.
std::string ToString(const std::vector<ExternalModule>& modules);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNALS_H_
