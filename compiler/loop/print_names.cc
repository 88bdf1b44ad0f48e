// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/print_names.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/identifier.h"

namespace kiln::loop {
namespace {

std::string AsIdentifier(const std::string& name) {
  if (IsIdentifier(name)) return name;
  std::string identifier = name;
  for (char& c : identifier) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return IsIdentifier(identifier) ? identifier : absl::StrCat("_", identifier);
}

}  // namespace

bool IsReservedWord(absl::string_view word) {
  constexpr std::array kWords = {
      "allocate", "bitcast",  "call",    "dot",     "else",     "fail",    "false", "for",
      "if",       "inf_bf16", "inf_f16", "inf_f32", "inf_f64",  "launch",  "let",   "nan_bf16",
      "nan_f16",  "nan_f32",  "nan_f64", "none",    "prefetch", "profile", "to",    "true"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

void NameTable::Set(const Buffer& buffer, const std::string& name) {
  taken_.insert(name);
  names_.emplace(buffer.get(), name);
}

bool NameTable::Take(const std::string& name) {
  if (IsReservedWord(name) || (outer_ != nullptr && outer_->taken_.contains(name))) return false;
  return taken_.insert(name).second;
}

std::string NameTable::Fresh(const std::string& wanted) {
  if (Take(wanted)) return wanted;
  int& suffix = next_suffix_[wanted];
  for (;;) {
    std::string name = absl::StrCat(wanted, "_", ++suffix);
    if (Take(name)) return name;
  }
}

const std::string& NameTable::Of(const void* object, const std::string& wanted) {
  if (outer_ != nullptr) {
    if (const auto it = outer_->names_.find(object); it != outer_->names_.end()) return it->second;
  }
  auto it = names_.find(object);
  if (it == names_.end()) it = names_.emplace(object, Fresh(AsIdentifier(wanted))).first;
  return it->second;
}

std::string SymbolToString(const std::string& symbol) {
  return IsIdentifier(symbol) ? symbol : QuotedToString(symbol);
}

std::string QuotedToString(absl::string_view text) {
  return absl::StrCat("\"", absl::CEscape(text), "\"");
}

}  // namespace kiln::loop
