// SPDX-License-Identifier: Apache-2.0
// Walking and rewriting of expressions and statements. Sharing is kept: a node that stands in
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

// Calls `f` once for every distinct node below and including `e`, operands first.
void VisitExpr(const Expr& e, const std::function<void(const Expr&)>& f);
// The same over every expression of a statement; `on_stmt`, where given, sees every statement,
// outer ones first.
void VisitStmt(const Stmt& s, const std::function<void(const Expr&)>& on_expr,
               const std::function<void(const Stmt&)>& on_stmt = nullptr);

// Rebuilds an expression bottom up: `f` is given a node whose operands have been rewritten, and
// returns what takes its place (or an empty Expr to keep it). Goes through the builders, so
// constants fold.
Expr MutateExpr(const Expr& e, const std::function<Expr(const Expr&)>& f);
// Rebuilds all expressions of a statement with `f`; the memo of shared nodes lives for one
// statement's expression.
Stmt MutateExprs(const Stmt& s, const std::function<Expr(const Expr&)>& f);
// Rebuilds a statement bottom up: `f` is given a statement whose parts have been rewritten and
// returns what takes its place.
Stmt MutateStmt(const Stmt& s, const std::function<Stmt(const Stmt&)>& f);

// The statement with those directly within it rewritten by `f`, which is also given the empty
// statement of an absent branch; itself if none changes.
Stmt MutateBodies(const Stmt& s, const std::function<Stmt(const Stmt&)>& f);

// Nodes to the expressions that take their place. A key is usually a variable, but may be any node
// of the original expression: it is replaced as a whole, before its operands are looked at, and
// what takes its place is not looked into.
using Substitution = std::unordered_map<const ExprNode*, Expr>;
Expr Substitute(const Expr& e, const Substitution& substitution);
Stmt Substitute(const Stmt& s, const Substitution& substitution);

// The statement with other buffers in the place of some, wherever it names them.
using BufferReplacement = std::unordered_map<const BufferNode*, Buffer>;
Stmt ReplaceBuffers(const Stmt& s, const BufferReplacement& replacement);

// Whether `var` occurs in `e`.
bool Uses(const Expr& e, const Var& var);
// Whether a statement calls other functions.
bool CallsFunctions(const Stmt& s);
// Variables that occur in `e`, by node.
std::unordered_set<const ExprNode*> VarsOf(const Expr& e);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_MUTATE_H_
