// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_BASE_MODULE_PREFIX_H_
#define KILN_COMPILER_BASE_MODULE_PREFIX_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kiln {

// Returns the prefix of all symbols of a module: "tvmgen_<module>".
inline std::string ModulePrefix(absl::string_view module_name) {
  return module_name.empty() ? "tvmgen" : absl::StrCat("tvmgen_", module_name);
}

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_MODULE_PREFIX_H_
