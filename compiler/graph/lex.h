// SPDX-License-Identifier: Apache-2.0
// The lexer of Relay text: bytes to tokens. Internal to the parser, but for IsPlainName.
#ifndef KILN_COMPILER_GRAPH_LEX_H_
#define KILN_COMPILER_GRAPH_LEX_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::relay {

// A place in the text; both count from 1, columns in bytes.
struct Position {
  int line = 1;
  int column = 1;
};

enum class TokenKind {
  kEnd,         // text is "end of file"
  kIdentifier,  // nn.conv2d, let
  kLocal,       // %x; text without the sign
  kGraph,       // %0; text without the sign
  kGlobal,      // @main; text without the sign
  kInt,         // 5, -5i64
  kFloat,       // 2.5f, 1f16, -inff; and "1.5", which the parser refuses
  kString,      // text with its quotes and escapes
  kSymbol,      // one of ( ) [ ] { } , ; : . = == != < <= > >= + - * / -> => ? #
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text;
  Position position;
  // Of a comment `/* ty=… */` behind the token: what follows "ty=". Empty otherwise.
  absl::string_view type_comment;
};

struct Tokens {
  std::vector<Token> tokens;  // the last one is kEnd
  // What follows `#[metadata]`, and where; empty without one.
  absl::string_view metadata;
  Position metadata_position;
};

// The tokens and `text` share bytes. Errors begin with "file:line:column: ".
absl::StatusOr<Tokens> Lex(absl::string_view text, absl::string_view file_name);

// The value of a kString token. InvalidArgument on an unknown escape.
absl::StatusOr<std::string> Unquote(absl::string_view quoted);

// Whether `%` and then `name` is one local variable for the lexer.
bool IsPlainName(absl::string_view name);

// Whether `name` is one identifier for the lexer, as attributes' names are.
bool IsAttrName(absl::string_view name);

// "'foo'" for messages; a string or number is cut off when it is long.
std::string Describe(const Token& token);

absl::Status ErrorAt(absl::string_view file_name, Position position, absl::string_view message);
absl::Status UnimplementedAt(absl::string_view file_name, Position position,
                             absl::string_view message);

}  // namespace kiln::relay

#endif  // KILN_COMPILER_GRAPH_LEX_H_
