// SPDX-License-Identifier: Apache-2.0
#include "tools/package/template.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/status.h"

namespace kiln::tools {
namespace {

constexpr absl::string_view kBegin = "{{", kEnd = "}}";

std::string MarkOf(absl::string_view name) { return absl::StrCat(kBegin, name, kEnd); }

absl::StatusOr<std::string> FillLine(absl::string_view line, const Marks& marks) {
  std::string filled;
  for (;;) {
    const size_t begin = line.find(kBegin);
    absl::StrAppend(&filled, line.substr(0, begin));
    if (begin == absl::string_view::npos) return filled;
    line.remove_prefix(begin + kBegin.size());
    const size_t end = line.find(kEnd);
    const auto value = marks.values.find(std::string(line.substr(0, end)));
    if (end == absl::string_view::npos || value == marks.values.end()) {
      return absl::InternalError(
          absl::StrCat("a template has the unknown mark ", kBegin, line.substr(0, end)));
    }
    absl::StrAppend(&filled, value->second);
    line.remove_prefix(end + kEnd.size());
  }
}

}  // namespace

absl::StatusOr<std::string> FillTemplate(absl::string_view text, const Marks& marks) {
  std::string filled;
  absl::ConsumeSuffix(&text, "\n");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    std::vector<std::string> lines = {std::string(line)};
    for (const auto& [name, elements] : marks.lists) {
      const std::string mark = MarkOf(name);
      if (!absl::StrContains(line, mark)) continue;
      lines.clear();
      for (const std::string& element : elements) {
        lines.push_back(absl::StrReplaceAll(line, {{mark, element}}));
      }
    }
    for (const std::string& each : lines) {
      KILN_ASSIGN_OR_RETURN(const std::string result, FillLine(each, marks));
      absl::StrAppend(&filled, result, "\n");
    }
  }
  return filled;
}

}  // namespace kiln::tools
