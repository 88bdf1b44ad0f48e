// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/standard_output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kiln::tools {
namespace {

constexpr size_t kMaxWordBytes = 400;

absl::Status CannotWrite() {
  return absl::InternalError(absl::StrCat("cannot write to standard output: ", strerror(errno)));
}

absl::Status Write(const std::string& text) {
  const bool complete = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return complete ? absl::OkStatus() : CannotWrite();
}

// Returns the last position at or before `at` at which a UTF-8 character begins.
size_t CharacterBefore(absl::string_view text, size_t at) {
  const size_t earliest = at < 3 ? 0 : at - 3;
  for (size_t place = at; place > earliest; --place) {
    if ((static_cast<unsigned char>(text[place]) & 0xC0) != 0x80) return place;
  }
  return at;
}

}  // namespace

std::string Printable(absl::string_view text) {
  std::string printable;
  for (const char c : text) {
    if (c == '\n' || c == '\t' || !absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      printable.push_back(c);
    } else {
      absl::StrAppend(&printable, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return printable;
}

std::string Shortened(absl::string_view text) {
  std::string shortened;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    absl::string_view word = text.substr(0, end);
    if (word.size() <= kMaxWordBytes) {
      absl::StrAppend(&shortened, word);
    } else {
      const size_t head = CharacterBefore(word, kMaxWordBytes / 2);
      const size_t tail = CharacterBefore(word, word.size() - kMaxWordBytes / 4);
      absl::StrAppend(&shortened, word.substr(0, head), "…[", tail - head, " bytes]…",
                      word.substr(tail));
    }
    text.remove_prefix(end);
    const size_t blanks = std::min(text.find_first_not_of(" \n"), text.size());
    absl::StrAppend(&shortened, text.substr(0, blanks));
    text.remove_prefix(blanks);
  }
  return shortened;
}

absl::Status Print(absl::string_view text) { return Write(Printable(text)); }

absl::Status Print(absl::string_view text, Style style) {
  return Write(Styled(Printable(text), style, ShowsColours(STDOUT_FILENO)));
}

absl::Status PrintJson(const nlohmann::ordered_json& json) {
  return Print(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

absl::Status FlushStandardOutput() {
  if (std::fflush(stdout) != 0) return CannotWrite();
  if (std::ferror(stdout) == 0) return absl::OkStatus();
  return absl::InternalError("cannot write to standard output");
}

}  // namespace kiln::tools
