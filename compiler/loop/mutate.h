// SPDX-License-Identifier: Apache-2.0
// Walking and rewriting of expressions and statements. Sharing is kept: a node that occurs in
// several places is visited once.
#ifndef KILN_COMPILER_LOOP_MUTATE_H_
#define KILN_COMPILER_LOOP_MUTATE_H_

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

// Calls `f` once for every distinct node of `e`, operands first.
void VisitExpr(const Expr& e, const std::function<void(const Expr&)>& f);
// Calls `on_expr` in the same way for every expression of a statement. Calls `on_stmt`, if it is
// given, for every statement, outer ones first.
void VisitStmt(const Stmt& s, const std::function<void(const Expr&)>& on_expr,
               const std::function<void(const Stmt&)>& on_stmt = nullptr);

// Rebuilds an expression bottom up. `f` gets a node whose operands have been rewritten, and returns
// its replacement, or an empty Expr to keep it. The builders make the nodes, so that constants
// fold.
Expr MutateExpr(const Expr& e, const std::function<Expr(const Expr&)>& f);
// Rebuilds all expressions of a statement with `f`. Results for shared nodes are kept within the
// expressions of one statement.
Stmt MutateExprs(const Stmt& s, const std::function<Expr(const Expr&)>& f);
// Rebuilds a statement bottom up. `f` gets a statement whose parts have been rewritten, and returns
// its replacement.
Stmt MutateStmt(const Stmt& s, const std::function<Stmt(const Stmt&)>& f);

// Rewrites the statements directly within `s` by `f`, which also gets the empty statement of an
// absent branch. Returns `s` if nothing changes.
Stmt MutateBodies(const Stmt& s, const std::function<Stmt(const Stmt&)>& f);

// Maps nodes to their replacements. A key is usually a variable, but may be any node of the
// original expression. It is replaced as a whole before its operands are visited, and the
// replacement is not searched.
using Substitution = std::unordered_map<const ExprNode*, Expr>;
Expr Substitute(const Expr& e, const Substitution& substitution);
Stmt Substitute(const Stmt& s, const Substitution& substitution);

// Replaces buffers wherever the statement refers to them.
using BufferReplacement = std::unordered_map<const BufferNode*, Buffer>;
Stmt ReplaceBuffers(const Stmt& s, const BufferReplacement& replacement);

// True if `var` occurs in `e`.
bool Uses(const Expr& e, const Var& var);
// True if the statement contains a Call or a Launch.
bool CallsFunctions(const Stmt& s);
// Returns the variables that occur in `e`, by node.
std::unordered_set<const ExprNode*> VarsOf(const Expr& e);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_MUTATE_H_
