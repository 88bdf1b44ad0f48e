// SPDX-License-Identifier: Apache-2.0
// Rebuilding of a node with other operands of the same types, without folding.
#ifndef KILN_COMPILER_LOOP_REPLACE_OPERANDS_H_
#define KILN_COMPILER_LOOP_REPLACE_OPERANDS_H_

#include <utility>

#include "compiler/loop/expr_node.h"

namespace kiln::loop {

// Replaces each operand of `e` by f(operand). Returns `e` itself if none changes.
template <typename F>
Expr ReplaceOperands(const Expr& e, const F& f) {
  ExprNode node = *e;
  bool changed = false;
  auto replace = [&](Expr& operand) {
    Expr replaced = f(std::as_const(operand));
    changed |= replaced.get() != operand.get();
    operand = std::move(replaced);
  };
  std::visit(
      Overloaded{[](IntImm&) {}, [](FloatImm&) {}, [](VarNode&) {}, [&](Unary& n) { replace(n.a); },
                 [&](Binary& n) {
                   replace(n.a);
                   replace(n.b);
                 },
                 [&](Fma& n) {
                   replace(n.a);
                   replace(n.b);
                   replace(n.c);
                 },
                 [&](Dot& n) {
                   replace(n.sum);
                   replace(n.a);
                   replace(n.b);
                 },
                 [&](Interleave& n) {
                   for (Expr& operand : n.operands) replace(operand);
                 },
                 [&](Compare& n) {
                   replace(n.a);
                   replace(n.b);
                 },
                 [&](Select& n) {
                   replace(n.condition);
                   replace(n.if_true);
                   replace(n.if_false);
                 },
                 [&](Cast& n) { replace(n.a); }, [&](Bitcast& n) { replace(n.a); },
                 [&](Load& n) {
                   for (Expr& index : n.index) replace(index);
                 },
                 [&](Ramp& n) { replace(n.base); }, [&](Broadcast& n) { replace(n.a); }},
      node.value);
  return changed ? NewExpr(std::move(node)) : e;
}

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_REPLACE_OPERANDS_H_
