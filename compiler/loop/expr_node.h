// SPDX-License-Identifier: Apache-2.0
// Construction of nodes and iteration over their operands, for the sources of this package.
#ifndef KILN_COMPILER_LOOP_EXPR_NODE_H_
#define KILN_COMPILER_LOOP_EXPR_NODE_H_

#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/loop/scalar.h"

namespace kiln::loop {

// Makes the node as it is given: no folding, no checks.
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

// Walks the nodes of `root` that are not in `visited`, operands first. It keeps a stack of its own,
// because an expression may be as deep as an unrolled reduction is long.
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

// Gets the value of a scalar constant. Returns false if `e` is not one.
bool AsScalar(const Expr& e, Scalar* value);
// Returns the constant `value`, in all lanes of `type`.
Expr FromScalar(Type type, Scalar value);
// Depth at which a recursive visit of an expression visits the operands first, to spare the stack.
inline constexpr int kMaxRecursion = 200;
// True if `e` is a constant, scalar or broadcast.
bool IsConstant(const Expr& e);
// Returns `e` with `lanes` lanes: itself, or a broadcast of a scalar.
Expr WithLanes(Expr e, int lanes);
// Returns the number of lanes of a load or store at `index`. Checks that there is one index per
// dimension of the buffer, or a single index.
int LanesOfAccess(const Buffer& buffer, const std::vector<Expr>& index);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_EXPR_NODE_H_
