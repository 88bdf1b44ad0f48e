// SPDX-License-Identifier: Apache-2.0
#include "metadata/member_name.h"

#include "absl/strings/ascii.h"
#include "metadata/reserved_names.h"

namespace kiln {
std::string MemberName(absl::string_view name) {
  std::string id(name);
  for (char& c : id) {
    if (!absl::ascii_isalnum(c)) c = '_';
  }
  if (!id.empty() && absl::ascii_isdigit(id[0])) id.insert(id.begin(), '_');
  // NULL is a macro of the headers that the generated one includes.
  if (IsKeyword(id) || IsCompilerMacro(id) || id == "NULL") id.push_back('_');
  return id;
}

}  // namespace kiln
