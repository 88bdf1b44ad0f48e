// SPDX-License-Identifier: Apache-2.0
// Lexer: the words of the text of loop programs, for the parser (parse.h).
#ifndef KILN_COMPILER_LOOP_LEXER_H_
#define KILN_COMPILER_LOOP_LEXER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::loop {

// A position in the text. Both numbers count from 1, columns in bytes.
struct Position {
  int line = 1;
  int column = 1;
};

struct Token {
  enum class Kind {
    kEnd,
    kName,    // for, float32, x_1
    kNumber,  // 3, 200u8, 1e-30f32: includes the suffix, but no sign
    kString,  // with its quotes and escapes
    kHash,    // #29103aad
    kSymbol,  // one of ( ) [ ] { } , : = + - * / % & | ^ ~ ! < > and two or three of them
  };
  Kind kind = Kind::kEnd;
  absl::string_view text;
  Position position;
};

// Reads a text token by token, one ahead. A comment begins with `//` and ends with its line.
//
//   Lexer lexer(text, "file");
//   KILN_RETURN_IF_ERROR(lexer.Expect("for"));
//   KILN_ASSIGN_OR_RETURN(absl::string_view name, lexer.ExpectName("the variable of a loop"));
class Lexer {
 public:
  Lexer(absl::string_view text, absl::string_view file_name);

  const Token& next() const { return next_; }
  bool At(absl::string_view text) const {
    return next_.text == text && next_.kind != Token::Kind::kString;
  }
  bool AtEnd() const { return next_.kind == Token::Kind::kEnd; }
  Token Take();
  // Takes the word if it is the next one.
  bool Accept(absl::string_view text);

  absl::Status Expect(absl::string_view text);
  // If the next token does not fit, the error says that `what` was wanted.
  absl::StatusOr<std::string> ExpectName(absl::string_view what);
  absl::StatusOr<std::string> ExpectString(absl::string_view what);
  // A name, or a string that holds one.
  absl::StatusOr<std::string> ExpectSymbol(absl::string_view what);
  // A number without suffix, optionally with a sign.
  absl::StatusOr<int64_t> ExpectInt(absl::string_view what, int64_t min, int64_t max);

  // Returns the error "found 'x', wanted <wanted>" at the next token.
  absl::Status Unexpected(absl::string_view wanted) const;
  // Returns InvalidArgument with "file:line:column: message".
  absl::Status ErrorAt(Position position, absl::string_view message) const;

 private:
  void Advance();
  void SkipSpace();
  size_t LengthOf(Token::Kind* kind) const;
  size_t NumberLength() const;

  absl::string_view rest_;
  const std::string file_name_;
  Position position_;
  Token next_;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_LEXER_H_
