// SPDX-License-Identifier: Apache-2.0
// Lexer: the words of the text of loop programs, for the parser (parse.h).
#ifndef KILN_COMPILER_LOOP_LEXER_H_
#define KILN_COMPILER_LOOP_LEXER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/lexer.h"

namespace kiln::loop {

using text::Position;
using text::Token;
using text::TokenKind;

// Numbers include a suffix, as in 200u8 and 1e-30f32, but no sign. The only sigil is the # of a
// hash: #29103aad.
//
//   Lexer lexer(text, "file");
//   KILN_RETURN_IF_ERROR(lexer.Expect("for"));
//   KILN_ASSIGN_OR_RETURN(absl::string_view name, lexer.ExpectName("the variable of a loop"));
class Lexer : public text::Lexer {
 public:
  Lexer(absl::string_view text, absl::string_view file_name);

  bool AtHash() { return next().kind == TokenKind::kSigil; }
  // True at a string, also if it does not end, which ExpectString refuses.
  bool AtString();

  // If the next token does not fit, the error says that `what` was wanted.
  absl::StatusOr<std::string> ExpectName(absl::string_view what);
  absl::StatusOr<std::string> ExpectString(absl::string_view what);
  // A name, or a string that holds one.
  absl::StatusOr<std::string> ExpectSymbol(absl::string_view what);
  // A number without suffix, optionally with a sign.
  absl::StatusOr<int64_t> ExpectInt(absl::string_view what, int64_t min, int64_t max);
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_LEXER_H_
