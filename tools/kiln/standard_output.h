// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_STANDARD_OUTPUT_H_
#define KILN_TOOLS_KILN_STANDARD_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tools/terminal/terminal.h"

namespace kiln::tools {

// The text with control characters other than tabs and ends of lines as \xNN: names come from
// models, and a terminal takes some of these characters for commands.
std::string Printable(absl::string_view text);

// The text with the middle of every word of more than 400 bytes left out: words come from models
// and command lines, and an error is to be read.
std::string Shortened(absl::string_view text);

// Writes Printable(text) to standard output. Internal if it cannot be written to: what is lost is
// no fault of the command line.
absl::Status Print(absl::string_view text);

// The same in a style, if standard output shows colours.
absl::Status Print(absl::string_view text, Style style);

// Prints the JSON, indented; texts that are no UTF-8 are replaced.
absl::Status PrintJson(const nlohmann::ordered_json& json);

// What Print has kept back; the last thing that a command does.
absl::Status FlushStandardOutput();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_STANDARD_OUTPUT_H_
