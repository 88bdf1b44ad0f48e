// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_TERMINAL_TABLE_H_
#define KILN_TOOLS_TERMINAL_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace kiln::tools {

// A table of cells. Columns whose name begins with '>' are aligned to the right.
class Table {
 public:
  explicit Table(const std::vector<std::string>& header);

  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // Returns one indented line per row, or "none". If lines would be longer than `columns`, which is
  // not 0, the widest left-aligned cells are shortened in the middle.
  std::string ToString(int columns = 0) const;

 private:
  // Returns the widths of the columns, such that a line has at most `columns` if that is possible.
  std::vector<size_t> Widths(size_t columns) const;

  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_TERMINAL_TABLE_H_
