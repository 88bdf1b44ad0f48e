// SPDX-License-Identifier: Apache-2.0
// UniqueNames: makes names of a graph's inputs or outputs unique, as callers find these by name. A
// file may give two of them the same name.
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
  // Reserves a name, so that Make does not return it.
  void Add(const std::string& name) { taken_.insert(name); }
  // Returns the name, or "name_2", "name_3" and so on if it is taken.
  std::string Make(const std::string& name);
  // Returns unique names. The first of equal names is kept. The others get numbers such that they
  // differ from all names.
  static std::vector<std::string> MakeAll(const std::vector<std::string>& names);

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> last_;  // the last number given to a name
};

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_UNIQUE_NAMES_H_
