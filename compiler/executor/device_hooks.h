// SPDX-License-Identifier: Apache-2.0
// Device hooks: calls into firmware around the operators of an accelerator. For each device <Name>
// the application defines TVMDevice<Name>Activate, Open, Close and Deactivate, each `int32_t (void*
// context)`. The contexts are the last parameters of the model's function.
#ifndef KILN_COMPILER_EXECUTOR_DEVICE_HOOKS_H_
#define KILN_COMPILER_EXECUTOR_DEVICE_HOOKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/loop.h"

namespace kiln {

struct DeviceUse {
  std::string name;                    // "npu"
  std::vector<std::string> functions;  // operator functions that run on the device
};

// Adds a declaration of `<function>_on_device` for each function of `devices`. It takes the context
// as a further argument, and calls the function between Open and Close. Internal unless the program
// has the function with plain C arguments.
absl::Status DeclareDeviceFunctions(const std::vector<DeviceUse>& devices,
                                    loop::LoopProgram& program);

// The name of the function that is called in place of `function`.
std::string OnDevice(const std::string& function);

// Returns C for the functions that DeclareDeviceFunctions declares, and for `activated`. The latter
// calls `model` between Activate and Deactivate of all devices, whose contexts are the last
// parameters. After an error, which is returned, devices that were activated or opened are still
// deactivated or closed.
std::string DeviceHooksSource(const std::vector<DeviceUse>& devices,
                              const loop::LoopProgram& program, const loop::Func& model,
                              const std::string& activated);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_DEVICE_HOOKS_H_
