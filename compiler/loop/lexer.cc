// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"

namespace kiln::loop {
namespace {

// Maximum number of characters of a number that an error quotes.
constexpr size_t kMaxQuote = 40;

constexpr absl::string_view kSymbols[] = {
    "..+", "..", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};

size_t WordLength(absl::string_view text) {
  size_t n = 0;
  while (n < text.size() &&
         (text[n] == '_' || absl::ascii_isalnum(static_cast<unsigned char>(text[n])))) {
    ++n;
  }
  return n;
}

constexpr text::Syntax kSyntax = {
    .spaces = " \t\n\r",
    .symbols = kSymbols,
    .name_length = WordLength,
    .sigils = "#",
    .sigil_name_length = WordLength,
    .exponents = "e",
    .suffix_length = [](absl::string_view text, bool) { return WordLength(text); },
    .end = "the end of the text",
    .errors_escape = true,
};

}  // namespace

Lexer::Lexer(absl::string_view text, absl::string_view file_name)
    : text::Lexer(text, file_name, kSyntax) {}

bool Lexer::AtString() {
  return next().kind == TokenKind::kString || next().kind == TokenKind::kOpenString;
}

absl::StatusOr<std::string> Lexer::ExpectName(absl::string_view what) {
  if (next().kind != TokenKind::kName) return Unexpected(what);
  if (next().text.size() > static_cast<size_t>(kMaxNameBytes)) {
    return ErrorAt(next().position, absl::StrCat("a name of ", next().text.size(),
                                                 " bytes; wanted at most ", kMaxNameBytes));
  }
  return std::string(Take().text);
}

absl::StatusOr<std::string> Lexer::ExpectString(absl::string_view what) {
  if (!AtString()) return Unexpected(what);
  const absl::string_view text = next().text;
  std::string value;
  if (text.size() < 2 || text.back() != '"' ||
      !absl::CUnescape(text.substr(1, text.size() - 2), &value)) {
    return ErrorAt(next().position, "a string that does not end, or with an unknown escape");
  }
  Take();
  return value;
}

absl::StatusOr<std::string> Lexer::ExpectSymbol(absl::string_view what) {
  return AtString() ? ExpectString(what) : ExpectName(what);
}

absl::StatusOr<int64_t> Lexer::ExpectInt(absl::string_view what, int64_t min, int64_t max) {
  const Position position = next().position;
  const bool negative = Accept("-");
  if (!next().is_number()) return Unexpected(what);
  const std::string text = absl::StrCat(negative ? "-" : "", Take().text);
  int64_t value;
  if (absl::SimpleAtoi(text, &value) && value >= min && value <= max) return value;
  return ErrorAt(position, absl::StrCat("found ", text.substr(0, kMaxQuote), ", wanted ", what,
                                        ", from ", min, " to ", max));
}

}  // namespace kiln::loop
