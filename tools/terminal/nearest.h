// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_TERMINAL_NEAREST_H_
#define KILN_TOOLS_TERMINAL_NEAREST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kiln::tools {

// ", perhaps 'cortex-m4f'": the name that differs least from `word`, by letters that are inserted,
// removed or changed. Empty if none is near: one letter, or a third of the word, may differ.
std::string Perhaps(absl::string_view word, const std::vector<std::string>& names);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_TERMINAL_NEAREST_H_
