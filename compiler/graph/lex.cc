// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/lex.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"

namespace kiln::relay {
namespace {

constexpr absl::string_view kTwoByteSymbols[] = {"==", "!=", "<=", ">=", "->", "=>"};
constexpr absl::string_view kOneByteSymbols = "()[]{},;:.=<>+-*/?#";
// Words that are numbers: infinity and not-a-number, with and without the suffix of a float.
constexpr absl::string_view kFloatWords[] = {"inf", "inff", "inff16", "inff32", "inff64",
                                             "nan", "nanf", "nanf16", "nanf32", "nanf64"};

bool IsLetter(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '/';
}

// Returns the length of the identifier without dots at the start of `text`, or 0 if there is none.
// "//" and "/*" end it, as they begin a comment.
size_t IdentifierLength(absl::string_view text) {
  size_t n = 0;
  while (n < text.size() && (IsLetter(text[n]) || (n > 0 && text::IsDigit(text[n])))) {
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
  return text[0] == '/' && (text.size() < 2 || !(IsLetter(text[1]) || text::IsDigit(text[1])));
}

size_t NameLength(absl::string_view text) {
  return BeginsWithDivision(text) ? 0 : DottedLength(text);
}

// Length of the digits of %0 or of the identifier of %x.
size_t SigilNameLength(absl::string_view text) {
  const size_t digits = text::SkipDigits(text, 0);
  return digits > 0 ? digits : IdentifierLength(text);
}

// Length of "f", "f16" or, after an integer, "i64".
size_t SuffixLength(absl::string_view text, bool is_float) {
  if (text.empty() || (text[0] != 'f' && (text[0] != 'i' || is_float))) return 0;
  return text::SkipDigits(text, 1);
}

}  // namespace

constinit const text::Syntax kSyntax = {
    .spaces = " \t\n\v\f\r",
    .comment_mark = "ty=",
    .strings_have_lines = true,
    .symbols = kTwoByteSymbols,
    .name_length = NameLength,
    .sigils = "%@",
    .sigil_name_length = SigilNameLength,
    .numbers_have_signs = true,
    .float_words = kFloatWords,
    .exponents = "eE",
    .suffix_length = SuffixLength,
    .end_mark = "#[metadata]",
    .end = "end of file",
};

absl::Status CheckTokens(text::Lexer& lexer) {
  for (size_t i = 0; lexer.next(i).kind != TokenKind::kEnd; ++i) {
    const Token& token = lexer.next(i);
    const auto error = [&](const auto&... message) {
      return lexer.ErrorAt(token.position, absl::StrCat(message...));
    };
    const bool is_sigil = token.kind == TokenKind::kSigil;
    const char first = token.text[0];
    if (is_sigil && (token.text.size() == 1 || (first == '@' && text::IsDigit(token.text[1])))) {
      return error("found '", token.text.substr(0, 1), "' without a name behind it");
    }
    if (token.kind == TokenKind::kOpenComment) {
      return error("found a comment without end, wanted '*/'");
    }
    if (token.kind == TokenKind::kOpenString) {
      return error("found a string without end, wanted '\"'");
    }
    if (token.kind == TokenKind::kSymbol && token.text.size() == 1 &&
        !absl::StrContains(kOneByteSymbols, first)) {
      return error("found a byte that begins no token: 0x",
                   absl::Hex(static_cast<unsigned char>(first), absl::kZeroPad2));
    }
    const int64_t num_bytes = static_cast<int64_t>(token.text.size()) - is_sigil;
    if (token.kind != TokenKind::kString && num_bytes > kMaxNameBytes) {
      return error("a name or number of ", num_bytes, " bytes, at most ", kMaxNameBytes,
                   " are allowed");
    }
  }
  return absl::OkStatus();
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
         NameLength(name) == name.size() && !absl::c_linear_search(kFloatWords, name);
}

absl::Status ErrorAt(absl::string_view file_name, Position position, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(text::Place(file_name, position), message));
}

absl::Status UnimplementedAt(absl::string_view file_name, Position position,
                             absl::string_view message) {
  return absl::UnimplementedError(absl::StrCat(text::Place(file_name, position), message));
}

}  // namespace kiln::relay
