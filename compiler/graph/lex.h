// SPDX-License-Identifier: Apache-2.0
// The lexer of Relay text: bytes to tokens. Internal to the parser, except IsPlainName and
// IsAttrName, which the printer uses.
#ifndef KILN_COMPILER_GRAPH_LEX_H_
#define KILN_COMPILER_GRAPH_LEX_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::relay {

// A position in the text. Line and column are 1-based; columns count bytes.
struct Position {
  int line = 1;
  int column = 1;
};

enum class TokenKind {
  kEnd,         // text is "end of file"
  kIdentifier,  // nn.conv2d, let
  kLocal,       // %x; `text` has no '%'
  kGraph,       // %0; `text` has no '%'
  kGlobal,      // @main; `text` has no '@'
  kInt,         // 5, -5i64
  kFloat,       // 2.5f, 1f16, -inff; also "1.5", which is refused as an expression
  kString,      // `text` includes quotes and escapes
  kSymbol,      // one of ( ) [ ] { } , ; : . = == != < <= > >= + - * / -> => ? #
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text;
  Position position;
  // The text after "ty=" of a comment `/* ty=… */` that follows the token. Empty if there is none.
  absl::string_view type_comment;
};

struct Tokens {
  std::vector<Token> tokens;  // the last one is kEnd
  // The text that follows `#[metadata]`, and its position. Empty if there is none.
  absl::string_view metadata;
  Position metadata_position;
};

// The tokens point into `text`. Errors begin with "file:line:column: ".
absl::StatusOr<Tokens> Lex(absl::string_view text, absl::string_view file_name);

// Returns the value of a kString token. InvalidArgument on an unknown escape.
absl::StatusOr<std::string> Unquote(absl::string_view quoted);

// True if the lexer reads `%` followed by `name` as one local variable.
bool IsPlainName(absl::string_view name);

// True if the lexer reads `name` as one identifier. Other attribute names need quotes.
bool IsAttrName(absl::string_view name);

// Returns the token in quotes for messages: "'foo'". Long text is cut off.
std::string Describe(const Token& token);

absl::Status ErrorAt(absl::string_view file_name, Position position, absl::string_view message);
absl::Status UnimplementedAt(absl::string_view file_name, Position position,
                             absl::string_view message);

}  // namespace kiln::relay

#endif  // KILN_COMPILER_GRAPH_LEX_H_
