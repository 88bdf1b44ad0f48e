// SPDX-License-Identifier: Apache-2.0
// Text in columns of a terminal. A character of UTF-8 counts as one column.
#ifndef KILN_TOOLS_TERMINAL_TEXT_H_
#define KILN_TOOLS_TERMINAL_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln::tools {

size_t ColumnsOf(absl::string_view text);

// The text in at most `columns` columns, at least 1: what is too long loses its middle to a '…'.
std::string CutMiddle(absl::string_view text, size_t columns);

// The text in lines of at most `columns` columns, broken between words; a word that is longer has a
// line of its own. The first line goes on behind `indent` columns that are there already, the
// others begin with as many blanks.
std::string Wrapped(absl::string_view text, size_t indent, size_t columns);

// "3 files", "1 file".
std::string Counted(size_t number, absl::string_view noun);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_TERMINAL_TEXT_H_
