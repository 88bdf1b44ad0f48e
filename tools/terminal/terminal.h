// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_TERMINAL_TERMINAL_H_
#define KILN_TOOLS_TERMINAL_TERMINAL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kiln::tools {

// Returns the columns available for a table: the environment variable COLUMNS if it is set,
// otherwise the width of the terminal on a file descriptor. 0, which means no limit, if it is not a
// terminal.
int TerminalColumns(int descriptor);

// True if the file descriptor is a terminal that shows colors: NO_COLOR is unset (no-color.org) and
// TERM is not "dumb".
bool ShowsColours(int descriptor);

enum class Style { kBold, kGreen, kRed, kYellow };

// Returns the text in a style if `styled` is set, otherwise unchanged.
std::string Styled(absl::string_view text, Style style, bool styled);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_TERMINAL_TERMINAL_H_
