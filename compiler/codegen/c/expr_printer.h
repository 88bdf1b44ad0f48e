// SPDX-License-Identifier: Apache-2.0
// Prints the expressions of one statement. Nodes that are used more than once, and long operands,
// become `const` temporaries before the statement.
//
//   ExprPrinter printer(context, variables, buffers, out);
//   printer.Begin({&store.index[0], &store.value});
//   std::string index = printer.Print(store.index[0]);   // may write lines to `out`
#ifndef KILN_COMPILER_CODEGEN_C_EXPR_PRINTER_H_
#define KILN_COMPILER_CODEGEN_C_EXPR_PRINTER_H_

#include <initializer_list>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/codegen/c/context.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"

namespace kiln::codegen {

// Precedence of an expression in C; a larger number binds more tightly.
enum Precedence {
  kConditional,
  kLogical,
  kBitwise,
  kEquality,
  kRelational,
  kShift,
  kAdditive,
  kMultiplicative,
  kPrefix,
  kPrimary
};

class ExprPrinter {
 public:
  using VarNames = absl::flat_hash_map<const loop::ExprNode*, std::string>;
  using BufferNames = absl::flat_hash_map<const loop::BufferNode*, std::string>;

  // `vars` and `buffers` map the function's variables, and the buffers in scope other than
  // constants, to names.
  ExprPrinter(CContext& context, const VarNames& vars, const BufferNames& buffers, LineWriter& out)
      : context_(context), vars_(vars), buffers_(buffers), out_(out) {}

  // Starts a function: temporaries are numbered from 0.
  void BeginFunction() { next_temporary_ = 0; }
  // Starts a statement with these expressions, and forgets the temporaries of the previous one.
  void Begin(absl::Span<const loop::Expr* const> roots);
  std::string Print(const loop::Expr& e, Precedence at_least = kConditional);

  // The address of an element of a buffer in scope.
  std::string ElementAddress(const loop::Argument& element);

  // The name of a buffer in scope, or null.
  const std::string* NameOf(const loop::BufferNode* buffer) const;

  // The first error of printing, or OK.
  const absl::Status& status() const { return status_; }

 private:
  struct Text {
    std::string text;
    Precedence precedence;
  };

  void Count(const loop::ExprNode* node);
  Text Visit(const loop::Expr& e);
  Text Make(const loop::Expr& e);
  Text MakeUnary(const loop::Unary& node, DType dtype);
  Text MakeBinary(const loop::Binary& node, DType dtype);
  Text MakeSaturation(const loop::Unary& node, DType to);
  Text MakeArithmetic(const loop::Binary& node, DType dtype);
  Text MakeBits(const loop::Binary& node, DType dtype);
  Text MakeShift(const loop::Binary& node, DType dtype);
  Text MakeCompare(const loop::Compare& node);
  Text MakeCast(const loop::Expr& from, DType to);
  Text MakeBitcast(const loop::Expr& from, DType to);
  Text MakeDot(const loop::Dot& node);
  Text MakeLoad(const loop::Load& node, DType dtype);
  Text MakeVector(const loop::Expr& e);
  // Prints `a op b` with the minimum precedences `left` for `a` and `right` for `b`.
  std::string Infix(const loop::Expr& a, const char* op, const loop::Expr& b, Precedence left,
                    Precedence right);
  // Casts `text` to `dtype` if C's arithmetic widens the type to int.
  Text Narrow(Text text, DType dtype);
  Text Cast(const std::string& type, Text operand);
  Text Fail(const std::string& message);
  Text Temporary(const loop::Expr& e, const std::string& text);

  CContext& context_;
  const VarNames& vars_;
  const BufferNames& buffers_;
  LineWriter& out_;
  int next_temporary_ = 0;
  absl::flat_hash_set<const loop::ExprNode*> roots_;
  absl::flat_hash_map<const loop::ExprNode*, int> uses_;
  absl::flat_hash_map<const loop::ExprNode*, Text> temporaries_;
  absl::Status status_;
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_EXPR_PRINTER_H_
