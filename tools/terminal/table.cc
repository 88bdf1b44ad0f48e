// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal/table.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

constexpr size_t kGap = 2;           // before each column
constexpr size_t kLeastColumns = 8;  // minimum width of a shortened cell

}  // namespace

Table::Table(const std::vector<std::string>& header) {
  for (const std::string& name : header) right_.push_back(name.front() == '>');
  rows_.push_back(header);
  for (std::string& name : rows_[0]) {
    if (name.front() == '>') name.erase(0, 1);
  }
}

std::vector<size_t> Table::Widths(size_t columns) const {
  std::vector<size_t> widths(right_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], ColumnsOf(row[c]));
  }
  size_t line = std::accumulate(widths.begin(), widths.end(), kGap * widths.size());
  for (; columns != 0 && line > columns; --line) {
    size_t* widest = nullptr;
    for (size_t c = 0; c < widths.size(); ++c) {
      const size_t least = std::max(kLeastColumns, ColumnsOf(rows_[0][c]));
      if (right_[c] || widths[c] <= least) continue;
      if (widest == nullptr || widths[c] > *widest) widest = &widths[c];
    }
    if (widest == nullptr) break;
    --*widest;
  }
  return widths;
}

std::string Table::ToString(int columns) const {
  if (rows_.size() == 1) return "  none\n";
  const std::vector<size_t> widths = Widths(static_cast<size_t>(std::max(0, columns)));
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string cell = CutMiddle(row[c], widths[c]);
      const std::string blanks(widths[c] - ColumnsOf(cell), ' ');
      absl::StrAppend(&line, std::string(kGap, ' '), right_[c] ? blanks : "", cell,
                      right_[c] ? "" : blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace kiln::tools
