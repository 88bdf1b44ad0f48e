// SPDX-License-Identifier: Apache-2.0
#include "metadata/member_name.h"

#include "absl/strings/ascii.h"
#include "metadata/reserved_names.h"

namespace kiln {
namespace {

// True if the byte continues a UTF-8 character.
bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// True for names that C reserves for compilers and their libraries: "__" or '_' and a capital
// letter.
bool IsReservedInC(absl::string_view name) {
  return name.size() > 1 && name[0] == '_' && (name[1] == '_' || absl::ascii_isupper(name[1]));
}

}  // namespace

std::string MemberName(absl::string_view name) {
  std::string id;
  for (const char c : name) {
    if (IsContinuation(c)) continue;
    id.push_back(absl::ascii_isalnum(c) ? c : '_');
  }
  if (!id.empty() && absl::ascii_isdigit(id[0])) id.insert(id.begin(), '_');
  if (IsReservedInC(id)) id.insert(id.begin(), 'x');
  if (IsKeyword(id) || IsCompilerMacro(id) || IsLibraryMacro(id)) id.push_back('_');
  return id;
}

}  // namespace kiln
