// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/lexer.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"

namespace kiln::loop {
namespace {

// Maximum number of characters of a token that an error quotes.
constexpr size_t kMaxQuote = 40;

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsNameChar(char c) { return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c)); }

size_t CountWhile(absl::string_view text, size_t from, bool (*holds)(char)) {
  while (from < text.size() && holds(text[from])) ++from;
  return from;
}

// Length of the string at the start of `text`, or of the whole rest if the string does not end.
size_t StringLength(absl::string_view text) {
  size_t i = 1;
  while (i < text.size() && text[i] != '"' && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

}  // namespace

Lexer::Lexer(absl::string_view text, absl::string_view file_name)
    : rest_(text), file_name_(file_name) {
  Advance();
}

void Lexer::SkipSpace() {
  while (!rest_.empty()) {
    size_t length = 0;
    if (absl::StartsWith(rest_, "//")) {
      length = std::min(rest_.find('\n'), rest_.size());
      position_.column += static_cast<int>(length);
    } else if (rest_[0] == '\n') {
      length = 1;
      ++position_.line;
      position_.column = 1;
    } else if (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r') {
      length = 1;
      ++position_.column;
    } else {
      return;
    }
    rest_.remove_prefix(length);
  }
}

// Length of digits, a fraction, an exponent and a suffix. The dots of "0..4" are no fraction.
size_t Lexer::NumberLength() const {
  size_t end = CountWhile(rest_, 0, IsDigit);
  if (end + 1 < rest_.size() && rest_[end] == '.' && IsDigit(rest_[end + 1])) {
    end = CountWhile(rest_, end + 1, IsDigit);
  }
  if (end < rest_.size() && rest_[end] == 'e') {
    size_t digits = end + 1;
    if (digits < rest_.size() && (rest_[digits] == '+' || rest_[digits] == '-')) ++digits;
    if (digits < rest_.size() && IsDigit(rest_[digits])) end = CountWhile(rest_, digits, IsDigit);
  }
  return CountWhile(rest_, end, IsNameChar);
}

size_t Lexer::LengthOf(Token::Kind* kind) const {
  const char c = rest_[0];
  *kind = Token::Kind::kNumber;
  if (IsDigit(c)) return NumberLength();
  *kind = Token::Kind::kName;
  if (IsNameChar(c)) return CountWhile(rest_, 0, IsNameChar);
  *kind = Token::Kind::kString;
  if (c == '"') return StringLength(rest_);
  *kind = Token::Kind::kHash;
  if (c == '#') return CountWhile(rest_, 1, IsNameChar);
  *kind = Token::Kind::kSymbol;
  constexpr std::array<absl::string_view, 11> kLong = {
      "..+", "..", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  for (const absl::string_view symbol : kLong) {
    if (absl::StartsWith(rest_, symbol)) return symbol.size();
  }
  return 1;
}

void Lexer::Advance() {
  SkipSpace();
  next_ = {.kind = Token::Kind::kEnd, .text = {}, .position = position_};
  if (rest_.empty()) return;
  const size_t length = LengthOf(&next_.kind);
  next_.text = rest_.substr(0, length);
  rest_.remove_prefix(length);
  position_.column += static_cast<int>(length);
}

Token Lexer::Take() {
  const Token token = next_;
  Advance();
  return token;
}

bool Lexer::Accept(absl::string_view text) {
  if (!At(text)) return false;
  Advance();
  return true;
}

absl::Status Lexer::Expect(absl::string_view text) {
  return Accept(text) ? absl::OkStatus() : Unexpected(absl::StrCat("'", text, "'"));
}

absl::StatusOr<std::string> Lexer::ExpectName(absl::string_view what) {
  if (next_.kind != Token::Kind::kName) return Unexpected(what);
  if (next_.text.size() > static_cast<size_t>(kMaxNameBytes)) {
    return ErrorAt(next_.position, absl::StrCat("a name of ", next_.text.size(),
                                                " bytes; wanted at most ", kMaxNameBytes));
  }
  return std::string(Take().text);
}

absl::StatusOr<std::string> Lexer::ExpectString(absl::string_view what) {
  if (next_.kind != Token::Kind::kString) return Unexpected(what);
  const absl::string_view text = next_.text;
  std::string value;
  if (text.size() < 2 || text.back() != '"' ||
      !absl::CUnescape(text.substr(1, text.size() - 2), &value)) {
    return ErrorAt(next_.position, "a string that does not end, or with an unknown escape");
  }
  Advance();
  return value;
}

absl::StatusOr<std::string> Lexer::ExpectSymbol(absl::string_view what) {
  return next_.kind == Token::Kind::kString ? ExpectString(what) : ExpectName(what);
}

absl::StatusOr<int64_t> Lexer::ExpectInt(absl::string_view what, int64_t min, int64_t max) {
  const Position position = next_.position;
  const bool negative = Accept("-");
  if (next_.kind != Token::Kind::kNumber) return Unexpected(what);
  const std::string text = absl::StrCat(negative ? "-" : "", Take().text);
  int64_t value;
  if (absl::SimpleAtoi(text, &value) && value >= min && value <= max) return value;
  return ErrorAt(position, absl::StrCat("found ", text.substr(0, kMaxQuote), ", wanted ", what,
                                        ", from ", min, " to ", max));
}

absl::Status Lexer::Unexpected(absl::string_view wanted) const {
  std::string found = "the end of the text";
  if (!AtEnd()) {
    found = absl::StrCat("'", absl::CEscape(next_.text.substr(0, kMaxQuote)),
                         next_.text.size() > kMaxQuote ? "…" : "", "'");
  }
  return ErrorAt(next_.position, absl::StrCat("found ", found, ", wanted ", wanted));
}

absl::Status Lexer::ErrorAt(Position position, absl::string_view message) const {
  return absl::InvalidArgumentError(
      absl::StrCat(file_name_, ":", position.line, ":", position.column, ": ", message));
}

}  // namespace kiln::loop
