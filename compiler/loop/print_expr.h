// SPDX-License-Identifier: Apache-2.0
// Text of expressions, as the printers of statements, stages and programs put it together; for the
// sources of this package.
#ifndef KILN_COMPILER_LOOP_PRINT_EXPR_H_
#define KILN_COMPILER_LOOP_PRINT_EXPR_H_

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/loop/expr.h"

namespace kiln::loop {

// Gives variables and buffers the names that they are printed under: their own, with _1, _2, …
// behind it where it is taken.
class NameTable {
 public:
  const std::string& Of(const Buffer& buffer) { return Of(buffer.get(), buffer->name); }
  const std::string& Of(const Var& var) { return Of(var.get(), var.As<VarNode>()->name); }
  // A name that nothing has yet.
  std::string Fresh(const std::string& wanted);

 private:
  const std::string& Of(const void* object, const std::string& wanted);

  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_suffix_;
};

// Prints the expressions of one statement. Those that stand in several places, and the parts of
// very deep ones, get names (t0, t1, …), so that the text is as long as the DAG, not as the tree.
class ExprPrinter {
 public:
  // `let_count` numbers the names; it is shared by all statements of a text.
  ExprPrinter(NameTable& names, int& let_count) : names_(names), let_count_(let_count) {}

  // The lines "let t0 = …" that must stand before a statement of these expressions.
  std::vector<std::string> Lets(const std::vector<Expr>& roots);
  std::string Print(const Expr& e) { return Print(e, 0); }
  // "[i, j]", or nothing for no index.
  std::string PrintIndex(const std::vector<Expr>& index);

 private:
  std::string Print(const Expr& e, int min_precedence);
  std::string PrintNode(const Expr& e, int min_precedence);

  NameTable& names_;
  int& let_count_;
  std::unordered_map<const ExprNode*, std::string> lets_;
};

// The parts one behind the other. Unlike the arguments of StrCat they are evaluated in order, and
// so names go by first appearance with every compiler.
std::string Concat(std::initializer_list<std::string> parts);

// "float32[3, 4]", "float32[]".
std::string BufferTypeToString(const BufferNode& buffer);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PRINT_EXPR_H_
