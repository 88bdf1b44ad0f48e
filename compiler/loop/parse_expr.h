// SPDX-License-Identifier: Apache-2.0
// ExprParser: reads expressions, for the parser of loop programs (parse.h).
#ifndef KILN_COMPILER_LOOP_PARSE_EXPR_H_
#define KILN_COMPILER_LOOP_PARSE_EXPR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/lexer.h"
#include "compiler/loop/parse_scope.h"

namespace kiln::loop {

// Makes nodes as they are written, without folding, and checks their types.
class ExprParser {
 public:
  ExprParser(Lexer& lexer, const Scope& scope) : lexer_(lexer), scope_(scope) {}

  absl::StatusOr<Expr> Parse();
  // An expression of type index.
  absl::StatusOr<Expr> ParseIndex();
  // "[i, j]"; each index may be a vector.
  absl::StatusOr<std::vector<Expr>> ParseIndices();
  // "x"; an error if x is not a buffer.
  absl::StatusOr<Buffer> ParseBuffer();
  // "3u8", "-1f32", "true", "-inf_f32".
  absl::StatusOr<Expr> ParseConstant();
  // True if the next token names a buffer.
  bool AtBuffer() const;

 private:
  absl::StatusOr<Expr> ParseBinary(int min_precedence);
  absl::StatusOr<Expr> ParsePrefix();
  absl::StatusOr<Expr> ParseSigned();
  absl::StatusOr<Expr> ParsePrimary();
  absl::StatusOr<Expr> ParseNamed();
  absl::StatusOr<Expr> ParseNumber(bool negative);
  absl::StatusOr<Expr> ParseFunction(const std::string& name, Position position);
  absl::StatusOr<Expr> ParseRamp(Position position);
  absl::StatusOr<Expr> ParseBroadcast(Position position);
  absl::StatusOr<Expr> ParseBitcast(Position position);
  absl::StatusOr<Expr> ParseDot(Position position);
  absl::StatusOr<Expr> ParseInterleave(Position position);
  absl::StatusOr<std::vector<Expr>> ParseList(absl::string_view end);
  absl::StatusOr<Expr> Apply(const std::string& name, Position position,
                             const std::vector<Expr>& operands);
  // Returns the node if its types are right.
  absl::StatusOr<Expr> Checked(Expr e, Position position) const;

  Lexer& lexer_;
  const Scope& scope_;
  int depth_ = 0;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARSE_EXPR_H_
