// SPDX-License-Identifier: Apache-2.0
#include "metadata/member_name.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

// Between spaces, so that a search finds whole words.
constexpr absl::string_view kKeywords =
    " _Alignas _Alignof _Atomic _BitInt _Bool _Complex _Generic _Imaginary _Noreturn "
    "_Static_assert _Thread_local "
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await "
    "co_return co_yield compl concept const "
    "const_cast consteval constexpr constinit continue decltype default delete do double "
    "dynamic_cast else enum explicit export extern "
    "false float for friend goto if inline int long mutable namespace new noexcept not not_eq "
    "nullptr operator or or_eq private protected "
    "public register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template "
    "this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned "
    "using virtual void volatile wchar_t while xor xor_eq "
    // Macros of gcc and clang without -std=c99.
    "i386 linux unix ";

}  // namespace

std::string MemberName(absl::string_view name) {
  std::string id(name);
  for (char& c : id) {
    if (!absl::ascii_isalnum(c)) c = '_';
  }
  if (!id.empty() && absl::ascii_isdigit(id[0])) id.insert(id.begin(), '_');
  if (kKeywords.find(absl::StrCat(" ", id, " ")) != absl::string_view::npos) id.push_back('_');
  return id;
}

}  // namespace kiln
