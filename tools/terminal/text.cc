// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal/text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kiln::tools {
namespace {

constexpr absl::string_view kEllipsis = "…";

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Returns the number of bytes of the first `columns` characters.
size_t BytesOf(absl::string_view text, size_t columns) {
  size_t bytes = 0;
  for (; bytes < text.size(); ++bytes) {
    if (BeginsCharacter(text[bytes]) && columns-- == 0) break;
  }
  return bytes;
}

}  // namespace

size_t ColumnsOf(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

std::string CutMiddle(absl::string_view text, size_t columns) {
  const size_t all = ColumnsOf(text);
  if (all <= columns) return std::string(text);
  const size_t tail = (columns - 1) / 2, head = columns - 1 - tail;
  return absl::StrCat(text.substr(0, BytesOf(text, head)), kEllipsis,
                      text.substr(BytesOf(text, all - tail)));
}

std::string Wrapped(absl::string_view text, size_t indent, size_t columns) {
  std::string wrapped;
  for (absl::string_view paragraph : absl::StrSplit(text, '\n')) {
    if (!wrapped.empty()) absl::StrAppend(&wrapped, "\n", std::string(indent, ' '));
    size_t at = indent;
    for (absl::string_view word : absl::StrSplit(paragraph, ' ', absl::SkipEmpty())) {
      const size_t width = ColumnsOf(word);
      if (at > indent && at + 1 + width > columns) {
        absl::StrAppend(&wrapped, "\n", std::string(indent, ' '));
        at = indent;
      } else if (at > indent) {
        wrapped.push_back(' ');
        ++at;
      }
      absl::StrAppend(&wrapped, word);
      at += width;
    }
  }
  return wrapped;
}

std::string Counted(size_t number, absl::string_view noun) {
  return absl::StrCat(number, " ", noun, number == 1 ? "" : "s");
}

}  // namespace kiln::tools
