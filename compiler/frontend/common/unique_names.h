// SPDX-License-Identifier: Apache-2.0
// UniqueNames: names of a graph's inputs or outputs, by which callers find them, for files that give two of them
// one name.
//
//   UniqueNames names;
//   names.Make("y");  // "y"
//   names.Make("y");  // "y_2"
#ifndef KILN_COMPILER_FRONTEND_COMMON_UNIQUE_NAMES_H_
#define KILN_COMPILER_FRONTEND_COMMON_UNIQUE_NAMES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kiln::frontend {

class UniqueNames {
 public:
  // Takes a name, so that Make gives it to nothing.
  void Add(const std::string& name) { taken_.insert(name); }
  // The name itself, or with a number from 2 on behind if it is taken.
  std::string Make(const std::string& name);
  // The first of each name keeps it, and those that repeat it get numbers that no other name has.
  static std::vector<std::string> MakeAll(const std::vector<std::string>& names);

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> last_;  // the number that the latest tensor of a name got
};

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_UNIQUE_NAMES_H_
