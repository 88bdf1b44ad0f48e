// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_TERMINAL_TABLE_H_
#define KILN_TOOLS_TERMINAL_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace kiln::tools {

// Rows of cells in columns; the cells of a column whose name begins with '>' stand to the right.
class Table {
 public:
  explicit Table(const std::vector<std::string>& header);

  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // One indented line per row, or "none". Where lines would be longer than `columns`, which is not
  // 0, the widest cells that stand to the left are cut in the middle.
  std::string ToString(int columns = 0) const;

 private:
  // Of each column, so that a line has at most `columns` if that is possible.
  std::vector<size_t> Widths(size_t columns) const;

  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_TERMINAL_TABLE_H_
