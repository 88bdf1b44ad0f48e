// SPDX-License-Identifier: Apache-2.0
#include "compiler/external/external_module.h"

#include "absl/strings/str_cat.h"

namespace kiln {

bool HasExternalSource(const std::vector<ExternalModule>& modules) {
  for (const ExternalModule& module : modules) {
    if (module.is_linkable()) return true;
  }
  return false;
}

std::string ToString(const std::vector<ExternalModule>& modules) {
  std::string text;
  for (const ExternalModule& module : modules) {
    absl::StrAppend(&text, "module of type ", module.type_key, " by ", module.codegen);
    if (!module.is_linkable()) absl::StrAppend(&text, ", ", module.payload.size(), " bytes");
    absl::StrAppend(&text, "\n");
    for (const ExternalFunction& function : module.functions) {
      absl::StrAppend(&text, "  function ", function.name, "\n");
      for (const ExternalConstant& constant : function.constants) {
        absl::StrAppend(&text, "    constant ", constant.name, ": ",
                        constant.tensor.type().ToString(), "\n");
      }
    }
    absl::StrAppend(&text, module.c_source);
  }
  return text;
}

}  // namespace kiln
