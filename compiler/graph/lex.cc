// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/lex.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"

namespace kiln::relay {
namespace {

constexpr absl::string_view kMetadataMark = "#[metadata]";
constexpr absl::string_view kTwoByteSymbols[] = {"==", "!=", "<=", ">=", "->", "=>"};
constexpr absl::string_view kSymbols = "()[]{},;:.=<>+-*/?#";
// Words that are numbers: infinity and not-a-number, with and without the suffix of a float.
constexpr absl::string_view kNumberWords[] = {"inf", "inff", "inff16", "inff32", "inff64",
                                              "nan", "nanf", "nanf16", "nanf32", "nanf64"};

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsLetter(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '/';
}

// Returns the length of the identifier without dots at the start of `text`, or 0 if there is none.
// "//" and "/*" end it, as they begin a comment.
size_t IdentifierLength(absl::string_view text) {
  size_t n = 0;
  while (n < text.size() && (IsLetter(text[n]) || (n > 0 && IsDigit(text[n])))) {
    if (text[n] == '/' && n + 1 < text.size() && (text[n + 1] == '/' || text[n + 1] == '*')) break;
    ++n;
  }
  return n;
}

// Like IdentifierLength, but dots may join identifiers: nn.conv2d.
size_t DottedLength(absl::string_view text) {
  size_t length = IdentifierLength(text);
  while (length > 0 && length + 1 < text.size() && text[length] == '.') {
    const size_t part = IdentifierLength(text.substr(length + 1));
    if (part == 0) break;
    length += 1 + part;
  }
  return length;
}

// True if `text` begins with the division operator. If a letter or digit follows the '/', it begins
// a name instead.
bool BeginsWithDivision(absl::string_view text) {
  return text[0] == '/' && (text.size() < 2 || !(IsLetter(text[1]) || IsDigit(text[1])));
}

bool IsNumberWord(absl::string_view word) {
  for (absl::string_view known : kNumberWords) {
    if (word == known) return true;
  }
  return false;
}

class Lexer {
 public:
  Lexer(absl::string_view text, absl::string_view file_name) : rest_(text), file_name_(file_name) {}

  absl::StatusOr<Tokens> Run() {
    Tokens result;
    while (true) {
      KILN_RETURN_IF_ERROR(SkipSpaceAndComments());
      if (rest_.empty()) break;
      if (absl::ConsumePrefix(&rest_, kMetadataMark)) {
        position_.column += static_cast<int>(kMetadataMark.size());
        result.metadata = rest_;
        result.metadata_position = position_;
        break;
      }
      KILN_RETURN_IF_ERROR(Next());
    }
    tokens_.push_back({.kind = TokenKind::kEnd,
                       .text = "end of file",
                       .position = position_,
                       .type_comment = {}});
    result.tokens = std::move(tokens_);
    return result;
  }

 private:
  absl::Status Error(absl::string_view message) const {
    return ErrorAt(file_name_, position_, message);
  }

  // Skips `n` bytes and returns them.
  absl::string_view Advance(size_t n) {
    const absl::string_view taken = rest_.substr(0, n);
    for (char c : taken) {
      if (c == '\n') {
        ++position_.line;
        position_.column = 1;
      } else {
        ++position_.column;
      }
    }
    rest_.remove_prefix(n);
    return taken;
  }

  absl::Status SkipSpaceAndComments() {
    while (!rest_.empty()) {
      if (absl::ascii_isspace(static_cast<unsigned char>(rest_[0]))) {
        Advance(1);
      } else if (absl::StartsWith(rest_, "//")) {
        Advance(std::min(rest_.find('\n'), rest_.size()));
      } else if (absl::StartsWith(rest_, "/*")) {
        KILN_RETURN_IF_ERROR(SkipBlockComment());
      } else {
        break;
      }
    }
    return absl::OkStatus();
  }

  absl::Status SkipBlockComment() {
    size_t end = 2;
    for (int depth = 1; depth > 0;) {
      const absl::string_view ahead = rest_.substr(end);
      if (ahead.size() < 2) return Error("found a comment without end, wanted '*/'");
      const bool opens = absl::StartsWith(ahead, "/*");
      const bool closes = absl::StartsWith(ahead, "*/");
      depth += opens - closes;
      end += opens || closes ? 2 : 1;
    }
    absl::string_view comment = absl::StripAsciiWhitespace(Advance(end).substr(2, end - 4));
    if (absl::ConsumePrefix(&comment, "ty=") && !tokens_.empty()) {
      tokens_.back().type_comment = comment;
    }
    return absl::OkStatus();
  }

  absl::Status Push(TokenKind kind, size_t prefix, size_t length) {
    const Position position = position_;
    const absl::string_view text = Advance(prefix + length).substr(prefix);
    if (kind != TokenKind::kString && static_cast<int64_t>(text.size()) > kMaxNameBytes) {
      return ErrorAt(file_name_, position,
                     absl::StrCat("a name or number of ", text.size(), " bytes, at most ",
                                  kMaxNameBytes, " are allowed"));
    }
    tokens_.push_back({.kind = kind, .text = text, .position = position, .type_comment = {}});
    return absl::OkStatus();
  }

  absl::Status Next() {
    const char c = rest_[0];
    if (c == '%' || c == '@') return NextSigil(c);
    if (c == '"') return NextString();
    if (IsDigit(c)) return NextNumber(0);
    if (c == '-' && rest_.size() > 1) {
      if (IsDigit(rest_[1])) return NextNumber(1);
      const size_t length = IdentifierLength(rest_.substr(1));
      if (IsNumberWord(rest_.substr(1, length))) return Push(TokenKind::kFloat, 0, length + 1);
    }
    if (IsLetter(c) && !BeginsWithDivision(rest_)) return NextIdentifier();
    for (absl::string_view symbol : kTwoByteSymbols) {
      if (absl::StartsWith(rest_, symbol)) return Push(TokenKind::kSymbol, 0, 2);
    }
    if (kSymbols.find(c) != absl::string_view::npos) return Push(TokenKind::kSymbol, 0, 1);
    return Error(absl::StrCat("found a byte that begins no token: 0x",
                              absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2)));
  }

  absl::Status NextSigil(char sigil) {
    const absl::string_view behind = rest_.substr(1);
    size_t digits = 0;
    while (digits < behind.size() && IsDigit(behind[digits])) ++digits;
    if (sigil == '%' && digits > 0) return Push(TokenKind::kGraph, 1, digits);
    const size_t length = IdentifierLength(behind);
    if (length == 0)
      return Error(absl::StrCat("found '", rest_.substr(0, 1), "' without a name behind it"));
    return Push(sigil == '%' ? TokenKind::kLocal : TokenKind::kGlobal, 1, length);
  }

  absl::Status NextIdentifier() {
    const size_t length = DottedLength(rest_);
    const bool is_number = IsNumberWord(rest_.substr(0, length));
    return Push(is_number ? TokenKind::kFloat : TokenKind::kIdentifier, 0, length);
  }

  absl::Status NextString() {
    size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return Error("found a string without end, wanted '\"'");
    return Push(TokenKind::kString, 0, end + 1);
  }

  // Reads digits, fraction, exponent and suffix. After a '.' it reads only digits, for %0.1.2.
  absl::Status NextNumber(size_t sign) {
    size_t end = sign;
    auto skip_digits = [&] {
      while (end < rest_.size() && IsDigit(rest_[end])) ++end;
    };
    auto at = [&](size_t i) { return i < rest_.size() ? rest_[i] : '\0'; };
    skip_digits();
    const bool is_field =
        !tokens_.empty() && tokens_.back().kind == TokenKind::kSymbol && tokens_.back().text == ".";
    if (is_field) return Push(TokenKind::kInt, 0, end);
    bool is_float = false;
    if (at(end) == '.' && IsDigit(at(end + 1))) {
      is_float = true;
      ++end;
      skip_digits();
    }
    if (at(end) == 'e' || at(end) == 'E') {
      const size_t digits = end + (at(end + 1) == '-' || at(end + 1) == '+' ? 2 : 1);
      if (IsDigit(at(digits))) {
        is_float = true;
        end = digits;
        skip_digits();
      }
    }
    if (at(end) == 'f' || (at(end) == 'i' && !is_float)) {
      is_float = at(end) == 'f';
      ++end;
      skip_digits();
    }
    return Push(is_float ? TokenKind::kFloat : TokenKind::kInt, 0, end);
  }

  absl::string_view rest_;
  const absl::string_view file_name_;
  Position position_;
  std::vector<Token> tokens_;
};

}  // namespace

absl::StatusOr<Tokens> Lex(absl::string_view text, absl::string_view file_name) {
  return Lexer(text, file_name).Run();
}

absl::StatusOr<std::string> Unquote(absl::string_view quoted) {
  absl::string_view rest = quoted.substr(1, quoted.size() - 2);
  std::string value;
  while (!rest.empty()) {
    if (rest[0] != '\\') {
      value.push_back(rest[0]);
      rest.remove_prefix(1);
      continue;
    }
    // The lexer has made sure that a byte follows every backslash.
    const char escape = rest[1];
    rest.remove_prefix(2);
    uint32_t code = 0;
    if (escape == 'x' && rest.size() >= 2 && absl::SimpleHexAtoi(rest.substr(0, 2), &code)) {
      value.push_back(static_cast<char>(code));
      rest.remove_prefix(2);
    } else if (escape == '"' || escape == '\\') {
      value.push_back(escape);
    } else if (escape == 'n' || escape == 't' || escape == 'r') {
      value.push_back(escape == 'n' ? '\n' : escape == 't' ? '\t' : '\r');
    } else {
      return absl::InvalidArgumentError(
          "found an unknown escape in a string, wanted one of \\\" \\\\ \\n \\t \\r \\xHH");
    }
  }
  return value;
}

bool IsPlainName(absl::string_view name) {
  return !name.empty() && static_cast<int64_t>(name.size()) <= kMaxNameBytes &&
         IdentifierLength(name) == name.size();
}

bool IsAttrName(absl::string_view name) {
  return !name.empty() && static_cast<int64_t>(name.size()) <= kMaxNameBytes &&
         DottedLength(name) == name.size() && !BeginsWithDivision(name) && !IsNumberWord(name);
}

std::string Describe(const Token& token) {
  constexpr size_t kMost = 40;
  const absl::string_view sigil =
      token.kind == TokenKind::kGlobal                                     ? "@"
      : token.kind == TokenKind::kLocal || token.kind == TokenKind::kGraph ? "%"
                                                                           : "";
  const absl::string_view quote = token.kind == TokenKind::kEnd ? "" : "'";
  return absl::StrCat(quote, sigil, token.text.substr(0, kMost),
                      token.text.size() > kMost ? "…" : "", quote);
}

absl::Status ErrorAt(absl::string_view file_name, Position position, absl::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrCat(file_name, ":", position.line, ":", position.column, ": ", message));
}

absl::Status UnimplementedAt(absl::string_view file_name, Position position,
                             absl::string_view message) {
  return absl::UnimplementedError(
      absl::StrCat(file_name, ":", position.line, ":", position.column, ": ", message));
}

}  // namespace kiln::relay
