// SPDX-License-Identifier: Apache-2.0
// Text of expressions, for the printers of statements, stages and programs.
#ifndef KILN_COMPILER_LOOP_PRINT_EXPR_H_
#define KILN_COMPILER_LOOP_PRINT_EXPR_H_

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/loop/print_names.h"

namespace kiln::loop {

// Prints the expressions of one statement. Expressions that occur in several places, and the parts
// of very deep ones, get names (t0, t1, …). The length of the text then depends on the DAG, not on
// the tree.
class ExprPrinter {
 public:
  // `let_count` numbers the names. All statements of a text share it.
  ExprPrinter(NameTable& names, int& let_count) : names_(names), let_count_(let_count) {}

  // Returns the lines "let t0 = …" that must precede a statement with these expressions.
  std::vector<std::string> Lets(const std::vector<Expr>& roots);
  std::string Print(const Expr& e) { return Print(e, 0); }
  // "[i, j]", or "[]" for no index.
  std::string PrintIndex(const std::vector<Expr>& index);

 private:
  std::string Print(const Expr& e, int min_precedence);
  std::string PrintNode(const Expr& e, int min_precedence);

  NameTable& names_;
  int& let_count_;
  std::unordered_map<const ExprNode*, std::string> lets_;
};

// Returns the concatenation of the parts. Unlike the arguments of StrCat they are evaluated in
// order, so that names are numbered by first appearance with every compiler.
std::string Concat(std::initializer_list<std::string> parts);

// "float32[3, 4]", "float32[]".
std::string BufferTypeToString(const BufferNode& buffer);
// "x: float32[3, 4]", followed by " align 64" if the buffer has an alignment of its own.
std::string DeclarationToString(NameTable& names, const Buffer& buffer);
// "0.5f32", "-inf_f64", "nan_f16"; reads back as the same number.
std::string FloatToString(DType dtype, double value);
// "3i8", "200u8", "true", or "3" for an index.
std::string IntToString(const Type& type, int64_t value);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PRINT_EXPR_H_
