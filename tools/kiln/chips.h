// SPDX-License-Identifier: Apache-2.0
// Which --target the chips that people build with have.
#ifndef KILN_TOOLS_KILN_CHIPS_H_
#define KILN_TOOLS_KILN_CHIPS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kiln::tools {

struct Chip {
  const char* family;  // what part numbers begin with, separated by blanks
  const char* core;    // "Cortex-M4F"
  const char* target;  // of kiln compile
  const char* note;    // what else to say, or ""
};

const std::vector<Chip>& Chips();

// The chip of which `text` is a part number: the one with the longest beginning of it, letter case
// and hyphens apart. Null if there is none.
const Chip* FindChip(absl::string_view text);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CHIPS_H_
