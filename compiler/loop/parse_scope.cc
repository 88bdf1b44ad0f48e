// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/parse_scope.h"

#include <utility>

#include "compiler/loop/print_names.h"

namespace kiln::loop {

const Meaning* Scope::Find(absl::string_view name) const {
  const auto it = meanings_.find(std::string(name));
  if (it != meanings_.end()) return &it->second;
  return outer_ == nullptr ? nullptr : outer_->Find(name);
}

bool Scope::Declare(const std::string& name, Meaning meaning) {
  if (IsReservedWord(name) || (outer_ != nullptr && outer_->Find(name) != nullptr)) return false;
  return meanings_.emplace(name, std::move(meaning)).second;
}

bool Scope::Let(const std::string& name, Expr value) {
  if (!Declare(name, std::move(value))) return false;
  lets_.push_back(name);
  return true;
}

void Scope::ForgetLets() {
  for (const std::string& name : lets_) meanings_.erase(name);
  lets_.clear();
}

}  // namespace kiln::loop
