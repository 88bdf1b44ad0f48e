// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace kiln::tools {

Table::Table(const std::vector<std::string>& header) {
  for (const std::string& name : header) right_.push_back(name.front() == '>');
  rows_.push_back(header);
  for (std::string& name : rows_[0]) {
    if (name.front() == '>') name.erase(0, 1);
  }
}

std::string Table::ToString() const {
  if (rows_.size() == 1) return "  none\n";
  std::vector<size_t> widths(right_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - row[c].size(), ' ');
      absl::StrAppend(&line, "  ", right_[c] ? blanks : "", row[c], right_[c] ? "" : blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace kiln::tools
