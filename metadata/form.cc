// SPDX-License-Identifier: Apache-2.0
#include "metadata/form.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace kiln {

std::string CallersOf(const proto::Metadata& metadata) {
  if (metadata.runtime() == "cpp") return "C, C++ and Python";
  return metadata.interface_api() == "c" ? "C and C++" : "C, by name";
}

std::string FormOf(const proto::Metadata& metadata) {
  return absl::StrCat("executor ", metadata.executor(), ", runtime ", metadata.runtime(),
                      ", interface ", metadata.interface_api());
}

}  // namespace kiln
