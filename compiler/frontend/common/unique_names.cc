// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/unique_names.h"

#include "absl/strings/str_cat.h"

namespace kiln::frontend {

std::string UniqueNames::Make(const std::string& name) {
  std::string unique = name;
  while (!taken_.insert(unique).second) {
    unique = absl::StrCat(name, "_", last_.emplace(name, 1).first->second += 1);
  }
  return unique;
}

std::vector<std::string> UniqueNames::MakeAll(const std::vector<std::string>& names) {
  UniqueNames unique;
  for (const std::string& name : names) unique.Add(name);
  std::set<std::string> kept;
  std::vector<std::string> result;
  for (const std::string& name : names) {
    result.push_back(kept.insert(name).second ? name : unique.Make(name));
  }
  return result;
}

}  // namespace kiln::frontend
