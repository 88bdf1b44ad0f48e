// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_TABLE_H_
#define KILN_TOOLS_KILN_TABLE_H_

#include <string>
#include <utility>
#include <vector>

namespace kiln::tools {

// Rows of cells in columns; the cells of a column whose name begins with '>' stand to the right.
class Table {
 public:
  explicit Table(const std::vector<std::string>& header);

  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // One indented line per row, or "none".
  std::string ToString() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_TABLE_H_
