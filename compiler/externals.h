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

// Makes `stages.modules` of the subgraphs in `stages.fused`, checks that the runtime and the
// calling convention can take them, and completes what the metadata says of their functions.
absl::Status AddExternalModules(const CompileOptions& options, Stages& stages);

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
