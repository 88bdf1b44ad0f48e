// SPDX-License-Identifier: Apache-2.0
// Helpers that all HTML pages of the tool share. A page is one file, which needs no network. Names
// in it come from model files and are untrusted.
#ifndef KILN_TOOLS_PAGES_HTML_H_
#define KILN_TOOLS_PAGES_HTML_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln::tools {

// Escapes the text of an element or a quoted attribute. Bytes that are not UTF-8 become replacement
// characters.
std::string EscapeHtml(absl::string_view text);

// Returns JSON for a script element. Nothing in it ends the element or begins a comment.
std::string ScriptJson(const nlohmann::ordered_json& json);

// Cells of a table that page.js sorts. A number is sorted by its value and shown with `digits`
// decimals. An unknown number is an empty cell.
std::string TextCell(absl::string_view text);
std::string NumberCell(double value, int digits = 2, absl::string_view unit = "");
std::string EmptyNumberCell();

// Formats a number like page scripts: 1,234,567.
std::string GroupedNumber(int64_t number);

// Returns a pair of a description list (dl).
std::string SummaryItem(absl::string_view name, absl::string_view value);

// Returns the page with {{marks}} replaced by `marks`, and with the shared style and script in the
// places of {{style}} and {{script}}.
std::string FillPage(absl::string_view page, const std::map<std::string, std::string>& marks);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PAGES_HTML_H_
