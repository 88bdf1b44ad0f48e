// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "metadata/reserved_names.h"

namespace kiln::codegen {
namespace {

// True if a generated or runtime header, the C library (`…f` and `…l` forms, too) or an
// implementation may use the name.
bool IsReserved(absl::string_view name) {
  for (absl::string_view prefix :
       {"__", "kiln_", "KILN_", "TVM", "DL", "kDL", "kTVM", "FTVM", "INT", "UINT"}) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  if (name.size() > 1 && name[0] == '_' && absl::ascii_isupper(name[1])) return true;
  if (absl::EndsWith(name, "_t")) return true;
  return IsKeyword(name) || IsCompilerMacro(name) || IsLibraryName(name);
}

}  // namespace

std::string SanitizeIdentifier(absl::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (!absl::ascii_isalnum(c)) c = '_';
  }
  if (result.empty() || absl::ascii_isdigit(result[0])) result.insert(result.begin(), '_');
  return result;
}

bool IsCIdentifier(absl::string_view name) {
  return SanitizeIdentifier(name) == name && !IsKeyword(name);
}

bool Names::IsTaken(const std::string& name) const {
  for (const auto& scope : scopes_) {
    if (scope.contains(name)) return true;
  }
  return false;
}

std::string Names::Add(absl::string_view wanted, int* next_suffix) {
  const std::string base = SanitizeIdentifier(wanted);
  // A reserved prefix makes the name reserved with any suffix.
  const char* prefix = IsReserved(absl::StrCat(base, "_1")) ? "x_" : "";
  std::string name = base;
  while (IsReserved(name) || IsTaken(name))
    name = absl::StrCat(prefix, base, "_", (*next_suffix)++);
  scopes_.back().insert(name);
  return name;
}

std::string Names::AddGlobal(absl::string_view wanted) {
  return Add(wanted, &next_global_.try_emplace(std::string(wanted), 1).first->second);
}

bool Names::AddExactGlobal(absl::string_view name) {
  return IsCIdentifier(name) && scopes_.front().insert(std::string(name)).second;
}

std::string Names::AddLocal(absl::string_view wanted) {
  int next_suffix = 1;
  return Add(wanted, &next_suffix);
}

}  // namespace kiln::codegen
