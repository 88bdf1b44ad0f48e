// SPDX-License-Identifier: Apache-2.0
// Texts with marks.
//
//   FillTemplate("add_library({{name}}\n  src/{{source}}\n)\n",
//                {.values = {{"name", "m"}}, .lists = {{"source", {"a.c", "b.c"}}}})
//   is "add_library(m\n  src/a.c\n  src/b.c\n)\n"
#ifndef KILN_TOOLS_PACKAGE_TEMPLATE_H_
#define KILN_TOOLS_PACKAGE_TEMPLATE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

struct Marks {
  std::map<std::string, std::string> values;
  // A line with the mark of a list is repeated for each element. It is removed if there are no
  // elements.
  std::map<std::string, std::vector<std::string>> lists;
};

// Internal for a mark that is neither a value nor a list.
absl::StatusOr<std::string> FillTemplate(absl::string_view text, const Marks& marks);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PACKAGE_TEMPLATE_H_
