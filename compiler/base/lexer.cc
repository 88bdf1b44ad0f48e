// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/lexer.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kiln::text {
namespace {

// Maximum number of bytes of a token that an error quotes, without its sigil.
constexpr size_t kMaxQuote = 40;

bool Contains(absl::string_view bytes, char c) { return bytes.find(c) != absl::string_view::npos; }

// Returns the byte, or 0 after the end.
char ByteAt(absl::string_view text, size_t i) { return i < text.size() ? text[i] : '\0'; }

}  // namespace

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

size_t SkipDigits(absl::string_view text, size_t from) {
  while (from < text.size() && IsDigit(text[from])) ++from;
  return from;
}

std::string Place(absl::string_view file_name, Position position) {
  return absl::StrCat(file_name, ":", position.line, ":", position.column, ": ");
}

const Token& Lexer::next(size_t ahead) {
  while (read_.size() <= ahead) read_.push_back(Scan());
  return read_[ahead];
}

Token Lexer::Take() {
  const Token token = next();
  read_.pop_front();
  return token;
}

bool Lexer::At(absl::string_view text, size_t ahead) {
  const Token& token = next(ahead);
  return token.text == text && (token.kind == TokenKind::kName || token.kind == TokenKind::kSymbol);
}

bool Lexer::Accept(absl::string_view text) {
  const bool found = At(text);
  if (found) Take();
  return found;
}

absl::Status Lexer::Expect(absl::string_view text) {
  return Accept(text) ? absl::OkStatus() : Unexpected(absl::StrCat("'", text, "'"));
}

absl::Status Lexer::Unexpected(absl::string_view wanted) {
  const Token& token = next();
  const size_t length = kMaxQuote + (token.kind == TokenKind::kSigil ? 1 : 0);
  const absl::string_view quoted = token.text.substr(0, length);
  const absl::string_view quote = AtEnd() ? "" : "'";
  const bool is_subtraction = token.is_number() && token.text[0] == '-';
  return ErrorAt(token.position,
                 absl::StrCat("found ", quote,
                              syntax_.errors_escape ? absl::CEscape(quoted) : std::string(quoted),
                              token.text.size() > length ? "…" : "", quote, ", wanted ", wanted,
                              is_subtraction ? "; a subtraction has a space behind its '-'" : ""));
}

absl::Status Lexer::ErrorAt(Position position, absl::string_view message) const {
  return absl::InvalidArgumentError(absl::StrCat(Place(file_name_, position), message));
}

// Skips bytes and returns them.
absl::string_view Lexer::Advance(size_t num_bytes) {
  const absl::string_view taken = rest_.substr(0, num_bytes);
  for (const char c : taken) {
    position_.line += c == '\n';
    position_.column = c == '\n' ? 1 : position_.column + 1;
  }
  rest_.remove_prefix(taken.size());
  return taken;
}

// Skips the comment that begins with `/*`. Returns false if it has no end.
bool Lexer::SkipComment(absl::string_view* mark) {
  size_t end = 2;
  for (int depth = 1; depth > 0;) {
    const absl::string_view ahead = rest_.substr(end);
    if (ahead.size() < 2) return false;
    const bool opens = absl::StartsWith(ahead, "/*");
    const bool closes = absl::StartsWith(ahead, "*/");
    depth += opens - closes;
    end += opens || closes ? 2 : 1;
  }
  absl::string_view comment = absl::StripAsciiWhitespace(Advance(end).substr(2, end - 4));
  if (absl::ConsumePrefix(&comment, syntax_.comment_mark)) *mark = comment;
  return true;
}

Token Lexer::Scan() {
  Token token;
  while (!rest_.empty() && !at_end_) {
    if (Contains(syntax_.spaces, rest_[0])) {
      Advance(1);
    } else if (absl::StartsWith(rest_, "//")) {
      Advance(std::min(rest_.find('\n'), rest_.size()));
    } else if (syntax_.comment_mark.empty() || !absl::StartsWith(rest_, "/*") ||
               !SkipComment(&token.comment)) {
      break;
    }
  }
  if (!at_end_ && !syntax_.end_mark.empty() && absl::StartsWith(rest_, syntax_.end_mark)) {
    Advance(syntax_.end_mark.size());
    at_end_ = true;
  }
  at_end_ |= rest_.empty();
  token.position = position_;
  token.text = at_end_ ? syntax_.end : Advance(Measure(&token.kind));
  after_dot_ = token.kind == TokenKind::kSymbol && token.text == ".";
  return token;
}

// Returns the length and the kind of the token at the start of the rest.
size_t Lexer::Measure(TokenKind* kind) const {
  const char c = rest_[0];
  if (IsDigit(c)) return NumberLength(0, kind);
  if (c == '-' && syntax_.numbers_have_signs) {
    if (IsDigit(ByteAt(rest_, 1))) return NumberLength(1, kind);
    const absl::string_view number = rest_.substr(1);
    const size_t length = syntax_.sigil_name_length(number);
    *kind = TokenKind::kFloat;
    if (absl::c_linear_search(syntax_.float_words, number.substr(0, length))) return length + 1;
  }
  if (const size_t length = syntax_.name_length(rest_); length > 0) {
    const bool is_float = absl::c_linear_search(syntax_.float_words, rest_.substr(0, length));
    *kind = is_float ? TokenKind::kFloat : TokenKind::kName;
    return length;
  }
  if (c == '"') return StringLength(kind);
  if (Contains(syntax_.sigils, c)) {
    *kind = TokenKind::kSigil;
    return 1 + syntax_.sigil_name_length(rest_.substr(1));
  }
  if (!syntax_.comment_mark.empty() && absl::StartsWith(rest_, "/*")) {
    *kind = TokenKind::kOpenComment;
    return rest_.size();
  }
  *kind = TokenKind::kSymbol;
  for (const absl::string_view symbol : syntax_.symbols) {
    if (absl::StartsWith(rest_, symbol)) return symbol.size();
  }
  return 1;
}

// Length of sign, digits, fraction, exponent and suffix. The dots of "0..4" are no fraction, and
// after a '.' only digits belong to the number.
size_t Lexer::NumberLength(size_t sign, TokenKind* kind) const {
  *kind = TokenKind::kInt;
  size_t end = SkipDigits(rest_, sign);
  if (after_dot_) return end;
  if (ByteAt(rest_, end) == '.' && IsDigit(ByteAt(rest_, end + 1))) {
    *kind = TokenKind::kFloat;
    end = SkipDigits(rest_, end + 1);
  }
  if (end < rest_.size() && Contains(syntax_.exponents, rest_[end])) {
    const char exponent_sign = ByteAt(rest_, end + 1);
    const size_t digits = end + (exponent_sign == '-' || exponent_sign == '+' ? 2 : 1);
    if (IsDigit(ByteAt(rest_, digits))) {
      *kind = TokenKind::kFloat;
      end = SkipDigits(rest_, digits);
    }
  }
  if (ByteAt(rest_, end) == 'f') *kind = TokenKind::kFloat;
  return end + syntax_.suffix_length(rest_.substr(end), *kind == TokenKind::kFloat);
}

size_t Lexer::StringLength(TokenKind* kind) const {
  size_t end = 1;
  while (end < rest_.size() && rest_[end] != '"') {
    if (rest_[end] == '\n' && !syntax_.strings_have_lines) break;
    end += rest_[end] == '\\' ? 2 : 1;
  }
  *kind = ByteAt(rest_, end) == '"' ? TokenKind::kString : TokenKind::kOpenString;
  return std::min(end + 1, rest_.size());
}

}  // namespace kiln::text
