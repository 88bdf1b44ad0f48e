// SPDX-License-Identifier: Apache-2.0
// Suggestions for error messages about an unknown name.
//
//   absl::StrCat("unknown target '", name, "'", Perhaps(name, names));
#ifndef KILN_COMPILER_BASE_NEAREST_H_
#define KILN_COMPILER_BASE_NEAREST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kiln {

// Returns the names with the least distance from `word`, at most three, in the order of `names`.
// The distance counts letters that are inserted, removed, changed or swapped with a neighbor, and
// ignores case. Names that begin with `word` win over others at the same distance. Names at a
// distance above a third of the length of `word`, and above 1, are ignored. Empty if no name is
// left, or if `word` has more than 64 characters.
std::vector<std::string> Nearest(absl::string_view word, const std::vector<std::string>& names);

// The nearest names as a part of an error, such as ", perhaps 'cortex-m4' or 'cortex-m4f'". Empty
// if there are none.
std::string Perhaps(absl::string_view word, const std::vector<std::string>& names);

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_NEAREST_H_
