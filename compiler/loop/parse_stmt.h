// SPDX-License-Identifier: Apache-2.0
// StmtParser: reads statements, for the parser of loop programs (parse.h).
#ifndef KILN_COMPILER_LOOP_PARSE_STMT_H_
#define KILN_COMPILER_LOOP_PARSE_STMT_H_

#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/lexer.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/parse_expr.h"
#include "compiler/loop/parse_scope.h"

namespace kiln::loop {

// Positions of statements in the text.
using StmtPositions = std::unordered_map<const StmtNode*, Position>;

class StmtParser {
 public:
  // `scope` has the declarations of the function. The parser adds those of the statements.
  StmtParser(Lexer& lexer, Scope& scope, StmtPositions& positions)
      : lexer_(lexer), scope_(scope), positions_(positions), exprs_(lexer, scope) {}

  // "{ statement… }"
  absl::StatusOr<Stmt> ParseBody();

 private:
  absl::StatusOr<Stmt> ParseStmt();
  absl::Status ParseLet();
  absl::StatusOr<Stmt> ParseFor();
  absl::StatusOr<Stmt> ParseIf();
  absl::StatusOr<Stmt> ParseAllocate();
  absl::StatusOr<Stmt> ParseStore();
  absl::StatusOr<Stmt> ParsePrefetch();
  absl::StatusOr<Stmt> ParseCall();
  absl::StatusOr<Stmt> ParseLaunch();
  absl::StatusOr<Stmt> ParseFail();
  absl::StatusOr<std::vector<Argument>> ParseArguments();
  ForKind ParseKind();
  absl::StatusOr<Var> LoopVar(const std::string& name, Position position);
  absl::StatusOr<Buffer> Allocated(Buffer buffer, Position position);

  Lexer& lexer_;
  Scope& scope_;
  StmtPositions& positions_;
  ExprParser exprs_;
  int depth_ = 0;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARSE_STMT_H_
