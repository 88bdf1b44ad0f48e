// SPDX-License-Identifier: Apache-2.0
#include "metadata/device_hooks.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kiln {

std::string DeviceHook(absl::string_view device, absl::string_view hook) {
  std::string name = "TVMDevice";
  bool upper = true;
  for (char c : device) {
    if (c != '_') name.push_back(upper ? absl::ascii_toupper(static_cast<unsigned char>(c)) : c);
    upper = c == '_';
  }
  return absl::StrCat(name, hook);
}

std::string DeviceHookPrototypes(absl::string_view device) {
  std::string text;
  for (const char* hook : {"Activate", "Open", "Close", "Deactivate"}) {
    absl::StrAppend(&text, "int32_t ", DeviceHook(device, hook), "(void* context);\n");
  }
  return text;
}

}  // namespace kiln
