// SPDX-License-Identifier: Apache-2.0
// What all pages have in common that the tool writes. A page is one file, which needs no network;
// names in it come from model files and are untrusted.
#ifndef KILN_TOOLS_PAGES_HTML_H_
#define KILN_TOOLS_PAGES_HTML_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln::tools {

// Text of an element or a quoted attribute, with a replacement character for what is not UTF-8.
std::string EscapeHtml(absl::string_view text);

// JSON that may stand inside a script element: nothing in it ends the element or begins a comment.
std::string ScriptJson(const nlohmann::ordered_json& json);

// Cells of a table that page.js sorts. A number is sorted by its value and shown with `digits`
// behind the point; one that is not known is an empty cell.
std::string TextCell(absl::string_view text);
std::string NumberCell(double value, int digits = 2, absl::string_view unit = "");
std::string EmptyNumberCell();

// 1,234,567, as page scripts write numbers.
std::string GroupedNumber(int64_t number);

// A pair of a list of definitions (dl).
std::string SummaryItem(absl::string_view name, absl::string_view value);

// The page with `marks` in the places of its {{marks}}, and the style and script of all pages in
// those of {{style}} and {{script}}.
std::string FillPage(absl::string_view page, const std::map<std::string, std::string>& marks);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PAGES_HTML_H_
