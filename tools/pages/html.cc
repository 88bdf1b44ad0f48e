// SPDX-License-Identifier: Apache-2.0
#include "tools/pages/html.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {

using nlohmann::ordered_json;

std::string EscapeHtml(absl::string_view text) {
  const ordered_json valid = ordered_json::parse(
      ordered_json(std::string(text)).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  return absl::StrReplaceAll(
      valid.get<std::string>(),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string ScriptJson(const ordered_json& json) {
  const std::string text =
      json.dump(-1, ' ', /*ensure_ascii=*/true, ordered_json::error_handler_t::replace);
  return absl::StrReplaceAll(text, {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
}

std::string TextCell(absl::string_view text) {
  return absl::StrCat("<td>", EscapeHtml(text), "</td>");
}

std::string NumberCell(double value, int digits, absl::string_view unit) {
  return absl::StrFormat("<td data-value=\"%.17g\">%.*f%s</td>", value, digits, value, unit);
}

std::string EmptyNumberCell() { return "<td data-value=\"-1\"></td>"; }

std::string GroupedNumber(int64_t number) {
  std::string text = absl::StrCat(number);
  for (size_t end = text.size(); end > (number < 0 ? 4u : 3u); end -= 3)
    text.insert(end - 3, 1, ',');
  return text;
}

std::string SummaryItem(absl::string_view name, absl::string_view value) {
  return absl::StrCat("<dt>", EscapeHtml(name), "</dt><dd>", EscapeHtml(value), "</dd>\n");
}

std::string FillPage(absl::string_view page, const std::map<std::string, std::string>& marks) {
  std::vector<std::pair<std::string, std::string>> replacements = {
      {"{{style}}", PageFiles().at("page.css")}, {"{{script}}", PageFiles().at("page.js")}};
  for (const auto& [mark, text] : marks) {
    replacements.emplace_back(absl::StrCat("{{", mark, "}}"), text);
  }
  return absl::StrReplaceAll(page, replacements);
}

}  // namespace kiln::tools
