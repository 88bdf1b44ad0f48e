// SPDX-License-Identifier: Apache-2.0
// Text in columns of a terminal. A UTF-8 character counts as one column.
#ifndef KILN_TOOLS_TERMINAL_TEXT_H_
#define KILN_TOOLS_TERMINAL_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln::tools {

size_t ColumnsOf(absl::string_view text);

// Returns the text in at most `columns` columns, which is at least 1. The middle of a longer text
// is replaced by '…'.
std::string CutMiddle(absl::string_view text, size_t columns);

// Returns the text in lines of at most `columns` columns, broken between words. A longer word has
// its own line. The first line continues after `indent` existing columns. The others begin with
// `indent` blanks.
std::string Wrapped(absl::string_view text, size_t indent, size_t columns);

// "3 files", "1 file".
std::string Counted(size_t number, absl::string_view noun);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_TERMINAL_TEXT_H_
