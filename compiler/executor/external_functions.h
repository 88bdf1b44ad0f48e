// SPDX-License-Identifier: Apache-2.0
// The functions of external modules in the model's program and metadata: how they are described,
// called and registered.
#ifndef KILN_COMPILER_EXECUTOR_EXTERNAL_FUNCTIONS_H_
#define KILN_COMPILER_EXECUTOR_EXTERNAL_FUNCTIONS_H_

#include <string>
#include <vector>

#include "compiler/executor/device_hooks.h"
#include "compiler/external/external_module.h"
#include "compiler/loop/loop.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// Completes what the metadata says of the modules' functions.
void DescribeExternals(const std::vector<ExternalModule>& modules, proto::Metadata& metadata);

// Functions of modules that are bytes are looked up by name, and are no symbols of the object.
void SetExternalConvention(const std::vector<ExternalModule>& modules, loop::LoopProgram& program);

// Linkable functions that the program does not export itself: for the registry of the C runtime.
std::vector<std::string> RegisteredExternals(const std::vector<ExternalModule>& modules,
                                             const loop::LoopProgram& program);

// Which functions run on devices with hooks, by device in the order of the modules.
std::vector<DeviceUse> DeviceUses(const std::vector<ExternalModule>& modules);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_EXTERNAL_FUNCTIONS_H_
