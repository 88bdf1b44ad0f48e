// SPDX-License-Identifier: Apache-2.0
// Device hooks: what firmware does around the operators of an accelerator. Per device <Name> the
// application defines TVMDevice<Name>Activate, Open, Close and Deactivate, each
// `int32_t (void* context)`; the context is the last parameter of the model's function.
#ifndef KILN_COMPILER_EXECUTOR_DEVICE_HOOKS_H_
#define KILN_COMPILER_EXECUTOR_DEVICE_HOOKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/loop.h"

namespace kiln {

struct DeviceUse {
  std::string name;                    // "npu"
  std::vector<std::string> functions;  // operator functions that run there
};

// Functions of the program, plain C, that are called between Open and Close: adds for each the
// declaration of `<function>_on_device`, which takes the context as one more argument.
absl::Status DeclareDeviceFunctions(const std::vector<DeviceUse>& devices,
                                    loop::LoopProgram& program);

// The name of the function that is called instead of `function`.
std::string OnDevice(const std::string& function);

// C of the functions that DeclareDeviceFunctions declares, and of `activated`: between Activate and
// Deactivate of all devices it calls `model`, whose last parameters are their contexts. What was
// activated or opened is deactivated or closed also after an error, which is returned.
std::string DeviceHooksSource(const std::vector<DeviceUse>& devices,
                              const loop::LoopProgram& program, const loop::Func& model,
                              const std::string& activated);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_DEVICE_HOOKS_H_
