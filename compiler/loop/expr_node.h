// SPDX-License-Identifier: Apache-2.0
// Making nodes and looking at their operands; for the sources of this package.
#ifndef KILN_COMPILER_LOOP_EXPR_NODE_H_
#define KILN_COMPILER_LOOP_EXPR_NODE_H_

#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/loop/scalar.h"

namespace kiln::loop {

// A node as it is: no folding, no checks.
Expr NewExpr(ExprNode node);
template <typename T>
Expr NewExpr(Type type, T value) {
  return NewExpr(ExprNode{type, std::move(value)});
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

// Calls f(operand) for every operand, in order.
template <typename F>
void ForEachOperand(const ExprNode& node, const F& f) {
  std::visit(Overloaded{[](const IntImm&) {}, [](const FloatImm&) {}, [](const VarNode&) {},
                        [&](const Unary& e) { f(e.a); },
                        [&](const Binary& e) {
                          f(e.a);
                          f(e.b);
                        },
                        [&](const Fma& e) {
                          f(e.a);
                          f(e.b);
                          f(e.c);
                        },
                        [&](const Dot& e) {
                          f(e.sum);
                          f(e.a);
                          f(e.b);
                        },
                        [&](const Interleave& e) {
                          for (const Expr& operand : e.operands) f(operand);
                        },
                        [&](const Compare& e) {
                          f(e.a);
                          f(e.b);
                        },
                        [&](const Select& e) {
                          f(e.condition);
                          f(e.if_true);
                          f(e.if_false);
                        },
                        [&](const Cast& e) { f(e.a); }, [&](const Bitcast& e) { f(e.a); },
                        [&](const Load& e) {
                          for (const Expr& i : e.index) f(i);
                        },
                        [&](const Ramp& e) { f(e.base); }, [&](const Broadcast& e) { f(e.a); }},
             node.value);
}

// Walks the nodes below `root` that are not in `visited`, operands first, on a stack of its own:
// expressions may be as deep as a reduction that was unrolled is long.
template <typename F>
void WalkPostOrder(const Expr& root, std::unordered_set<const ExprNode*>& visited, const F& f) {
  struct Frame {
    const Expr* expr;
    bool operands_done;
  };
  std::vector<Frame> stack = {{&root, false}};
  std::vector<const Expr*> operands;
  while (!stack.empty()) {
    auto [expr, operands_done] = stack.back();
    if (operands_done) {
      stack.pop_back();
      if (visited.insert(expr->get()).second) f(*expr);
      continue;
    }
    if (visited.contains(expr->get())) {
      stack.pop_back();
      continue;
    }
    stack.back().operands_done = true;
    operands.clear();
    ForEachOperand(**expr, [&](const Expr& operand) { operands.push_back(&operand); });
    for (auto it = operands.rbegin(); it != operands.rend(); ++it) stack.push_back({*it, false});
  }
}

// The value of a scalar constant; false if `e` is none.
bool AsScalar(const Expr& e, Scalar* value);
// The constant of `value`, in all lanes.
Expr FromScalar(Type type, Scalar value);
// Whether `e` is a constant, scalar or broadcast.
bool IsConstant(const Expr& e);
// `e` as a value of `lanes` lanes: itself, or the broadcast of a scalar.
Expr WithLanes(Expr e, int lanes);
// The lanes that a load or store at `index` has, which is checked: an index per dimension of the
// buffer, or one into all of its elements.
int LanesOfAccess(const Buffer& buffer, const std::vector<Expr>& index);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_EXPR_NODE_H_
