// SPDX-License-Identifier: Apache-2.0
// Values of --target for common chips.
#ifndef KILN_TOOLS_KILN_CHIPS_H_
#define KILN_TOOLS_KILN_CHIPS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kiln::tools {

struct Chip {
  const char* family;  // prefixes of part numbers, separated by blanks
  const char* core;    // such as "Cortex-M4F"
  const char* target;  // for kiln compile
  const char* note;    // a further remark, or ""
};

const std::vector<Chip>& Chips();

// Returns the chip with part number `text`: the one with the longest matching prefix. Letter case
// and hyphens are ignored. Null if there is none.
const Chip* FindChip(absl::string_view text);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CHIPS_H_
