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
  // The name, or "name_2", "name_3" and so on if it is taken.
  std::string Make(const std::string& name);
  // The first of equal names keeps the name. The others get numbers that make them unlike all names.
  static std::vector<std::string> MakeAll(const std::vector<std::string>& names);

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> last_;  // the number that the latest tensor of a name got
};

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_UNIQUE_NAMES_H_
