// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_STANDARD_OUTPUT_H_
#define KILN_TOOLS_KILN_STANDARD_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tools/terminal/terminal.h"

namespace kiln::tools {

// Returns the text with control characters other than tabs and line ends replaced by \xNN. Names
// come from models, and a terminal interprets some of these characters as commands.
std::string Printable(absl::string_view text);

// Returns the text with the middle of every word of more than 400 bytes removed. Words come from
// models and command lines, and error messages must stay readable.
std::string Shortened(absl::string_view text);

// Writes Printable(text) to standard output. Internal if that fails, because lost output is not an
// error of the command line.
absl::Status Print(absl::string_view text);

// Like Print, with a style if standard output shows colors.
absl::Status Print(absl::string_view text, Style style);

// Prints indented JSON. Invalid UTF-8 is replaced.
absl::Status PrintJson(const nlohmann::ordered_json& json);

// Writes the output that Print has buffered. A command calls it last.
absl::Status FlushStandardOutput();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_STANDARD_OUTPUT_H_
