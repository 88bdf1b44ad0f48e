// SPDX-License-Identifier: Apache-2.0
// Lexer: the tokens of a text, for parsers by recursive descent. Relay text (compiler/graph/lex.h)
// and the text of loop programs (compiler/loop/lexer.h) are its two syntaxes.
//
//   text::Lexer lexer(text, "model.relay", kRelaySyntax);
//   KILN_RETURN_IF_ERROR(lexer.Expect("def"));
//   if (lexer.next().kind != text::TokenKind::kName) return lexer.Unexpected("a name");
#ifndef KILN_COMPILER_BASE_LEXER_H_
#define KILN_COMPILER_BASE_LEXER_H_

#include <cstddef>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln::text {

// A position in the text. Line and column are 1-based; columns count bytes.
struct Position {
  int line = 1;
  int column = 1;
};

enum class TokenKind {
  kEnd,          // `text` is Syntax::end
  kName,         // nn.conv2d, let
  kInt,          // 5, -5i64
  kFloat,        // 2.5f, 1f16, -inff
  kString,       // `text` includes quotes and escapes
  kSigil,        // %x, %0, @main, #29103aad; the name may be empty
  kSymbol,       // + and ->; also a byte that begins no other token
  kOpenString,   // a string without end
  kOpenComment,  // the rest of the text after a `/*` without `*/`
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text;
  Position position;
  // The text after Syntax::comment_mark in a comment before the token. Empty if there is none.
  absl::string_view comment;

  bool is_number() const { return kind == TokenKind::kInt || kind == TokenKind::kFloat; }
};

// The rules of one language. A comment begins with `//` and ends with its line.
struct Syntax {
  absl::string_view spaces;
  // Comments between `/*` and `*/`, which nest, are allowed if this is not empty.
  absl::string_view comment_mark = {};
  bool strings_have_lines = false;              // otherwise a string ends with its line
  absl::Span<const absl::string_view> symbols;  // the ones of several bytes, longest first
  // Returns the length of the name at the start of a text, or 0.
  size_t (*name_length)(absl::string_view text);
  absl::string_view sigils;
  // Returns the length of the name that follows a sigil.
  size_t (*sigil_name_length)(absl::string_view text);
  // Numbers begin with a minus sign if nothing is between. Otherwise it is a symbol.
  bool numbers_have_signs = false;
  absl::Span<const absl::string_view> float_words = {};  // names that are numbers: inf
  absl::string_view exponents;                           // letters that begin an exponent
  // Returns the length of a number's suffix at the start of a text.
  size_t (*suffix_length)(absl::string_view text, bool is_float);
  // The text ends with this mark. Empty: it has none.
  absl::string_view end_mark = {};
  absl::string_view end;       // the name of the end in errors
  bool errors_escape = false;  // errors escape the tokens that they quote
};

bool IsDigit(char c);
// Returns the index of the first byte from `from` on that is no digit.
size_t SkipDigits(absl::string_view text, size_t from);

// Returns "file:line:column: ", with which errors begin.
std::string Place(absl::string_view file_name, Position position);

class Lexer {
 public:
  // The text and the syntax must outlive the lexer.
  Lexer(absl::string_view text, absl::string_view file_name, const Syntax& syntax)
      : rest_(text), file_name_(file_name), syntax_(syntax) {}

  // Returns the next token, or one after it. It is valid until it is taken.
  const Token& next(size_t ahead = 0);
  Token Take();
  // True if the token is this name or symbol.
  bool At(absl::string_view text, size_t ahead = 0);
  bool AtEnd() { return next().kind == TokenKind::kEnd; }
  // Takes the next token if it is this name or symbol.
  bool Accept(absl::string_view text);
  absl::Status Expect(absl::string_view text);

  // Returns the error "found 'x', wanted <wanted>" at the next token.
  absl::Status Unexpected(absl::string_view wanted);
  // Returns InvalidArgument with "file:line:column: message".
  absl::Status ErrorAt(Position position, absl::string_view message) const;

  const std::string& file_name() const { return file_name_; }
  // The text after the tokens that were read. After the end it is the text after the mark.
  absl::string_view rest() const { return rest_; }

 private:
  absl::string_view Advance(size_t num_bytes);
  bool SkipComment(absl::string_view* mark);
  Token Scan();
  size_t Measure(TokenKind* kind) const;
  size_t NumberLength(size_t sign, TokenKind* kind) const;
  size_t StringLength(TokenKind* kind) const;

  absl::string_view rest_;
  const std::string file_name_;
  const Syntax& syntax_;
  Position position_;
  bool after_dot_ = false;  // a tuple's field follows, as in %0.1.2
  bool at_end_ = false;
  std::deque<Token> read_;
};

}  // namespace kiln::text

#endif  // KILN_COMPILER_BASE_LEXER_H_
