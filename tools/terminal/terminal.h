// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_TERMINAL_TERMINAL_H_
#define KILN_TOOLS_TERMINAL_TERMINAL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kiln::tools {

// Columns of a table: what the environment variable COLUMNS says, else those of the terminal behind a
// file descriptor; 0, which means no limit, where there is none.
int TerminalColumns(int descriptor);

// Whether a file descriptor is a terminal that shows colours: NO_COLOR is unset (no-color.org) and
// TERM is not "dumb".
bool ShowsColours(int descriptor);

enum class Style { kBold, kGreen, kRed, kYellow };

// The text in a style if `styled`, or as it is.
std::string Styled(absl::string_view text, Style style, bool styled);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_TERMINAL_TERMINAL_H_
