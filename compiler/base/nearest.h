// SPDX-License-Identifier: Apache-2.0
// The name that was probably meant, for errors about one that is unknown.
//
//   absl::StrCat("unknown target '", name, "'", Perhaps(name, names));
#ifndef KILN_COMPILER_BASE_NEAREST_H_
#define KILN_COMPILER_BASE_NEAREST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kiln {

// The names that differ least from `word`, by letters that are inserted, removed, changed or exchanged with
// their neighbor; capitals count as small letters. Names that begin with the word go before others that are
// as near. At most three, in the order of `names`; empty if none is near, which is one letter or a third of
// the word away, or if the word has more than 64 characters.
std::vector<std::string> Nearest(absl::string_view word, const std::vector<std::string>& names);

// ", perhaps 'cortex-m4' or 'cortex-m4f'": the nearest names as a part of an error; empty if there is none.
std::string Perhaps(absl::string_view word, const std::vector<std::string>& names);

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_NEAREST_H_
