// SPDX-License-Identifier: Apache-2.0
// The tokens of Relay text. Internal to the parser, except IsPlainName and
// IsAttrName, which the printer uses.
#ifndef KILN_COMPILER_GRAPH_LEX_H_
#define KILN_COMPILER_GRAPH_LEX_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/lexer.h"

namespace kiln::relay {

using text::Position;
using text::Token;
using text::TokenKind;

// A sigil before digits is a variable of the graph (%0), and before a name a variable (%x) or a
// function (@main). "1.5" is a number that expressions refuse. The text after `#[metadata]` is no
// part of the tokens. The comment of a token is the text after "ty=" of `/* ty=… */`.
extern const text::Syntax kSyntax;

// Reads all tokens. Returns the first error that no parser needs to find.
absl::Status CheckTokens(text::Lexer& lexer);

// Returns the value of a kString token. InvalidArgument on an unknown escape.
absl::StatusOr<std::string> Unquote(absl::string_view quoted);

// True if the lexer reads `%` followed by `name` as one local variable.
bool IsPlainName(absl::string_view name);

// True if the lexer reads `name` as one identifier. Other attribute names need quotes.
bool IsAttrName(absl::string_view name);

absl::Status ErrorAt(absl::string_view file_name, Position position, absl::string_view message);
absl::Status UnimplementedAt(absl::string_view file_name, Position position,
                             absl::string_view message);

}  // namespace kiln::relay

#endif  // KILN_COMPILER_GRAPH_LEX_H_
