// SPDX-License-Identifier: Apache-2.0
// Names of a device's hooks in generated code.
#ifndef KILN_METADATA_DEVICE_HOOKS_H_
#define KILN_METADATA_DEVICE_HOOKS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

// Returns the name of a hook: DeviceHook("ethos_u", "Open") is "TVMDeviceEthosUOpen".
std::string DeviceHook(absl::string_view device, absl::string_view hook);

// Returns C prototypes of the hooks Activate, Open, Close and Deactivate, which the application
// defines.
std::string DeviceHookPrototypes(absl::string_view device);

}  // namespace kiln

#endif  // KILN_METADATA_DEVICE_HOOKS_H_
