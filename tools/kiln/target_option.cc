// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/target_option.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/kiln/chips.h"

namespace kiln::tools {

absl::StatusOr<Target> ParseTargetOption(const std::string& text) {
  absl::StatusOr<Target> target = Target::Parse(text.empty() ? "host" : text);
  if (target.ok()) return target;
  const std::string name = text.substr(0, text.find(' '));
  if (const Chip* const chip = FindChip(name); chip != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--target: found '", name, "', which has a ", chip->core, ": wanted --target ",
        absl::StrContains(chip->target, ' ') ? absl::StrCat("'", chip->target, "'") : chip->target,
        *chip->note == '\0' ? "" : absl::StrCat(" (", chip->note, ")")));
  }
  return target;
}

}  // namespace kiln::tools
