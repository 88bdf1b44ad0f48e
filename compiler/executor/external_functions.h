// SPDX-License-Identifier: Apache-2.0
// The functions of external modules in the model's program and metadata: their description, calling
// convention and registration.
#ifndef KILN_COMPILER_EXECUTOR_EXTERNAL_FUNCTIONS_H_
#define KILN_COMPILER_EXECUTOR_EXTERNAL_FUNCTIONS_H_

#include <string>
#include <vector>

#include "compiler/executor/device_hooks.h"
#include "compiler/external/external_module.h"
#include "compiler/loop/loop.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// Sets module type, constant bytes and device of the modules' functions in the metadata.
void DescribeExternals(const std::vector<ExternalModule>& modules, proto::Metadata& metadata);

// Makes the program look up functions of modules that are not linkable by name; they are not
// symbols of the object.
void SetExternalConvention(const std::vector<ExternalModule>& modules, loop::LoopProgram& program);

// Linkable functions that the program does not export, for the registry of the C runtime.
std::vector<std::string> RegisteredExternals(const std::vector<ExternalModule>& modules,
                                             const loop::LoopProgram& program);

// Functions that run on devices with hooks, by device, in the order of the modules.
std::vector<DeviceUse> DeviceUses(const std::vector<ExternalModule>& modules);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_EXTERNAL_FUNCTIONS_H_
