// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/mutate.h"

#include <utility>

#include "compiler/loop/expr_node.h"

namespace kiln::loop {
namespace {

using Memo = std::unordered_map<const ExprNode*, Expr>;
using ExprFunction = std::function<Expr(const Expr&)>;

// Rebuilds `e` with the builders. `rewritten` maps each operand to its replacement.
template <typename F>
Expr Rebuild(const Expr& e, const F& rewritten) {
  bool changed = false;
  ForEachOperand(*e, [&](const Expr& operand) {
    changed = changed || rewritten(operand).get() != operand.get();
  });
  if (!changed) return e;
  const Type& type = e.type();
  return std::visit(
      Overloaded{
          [&](const IntImm&) { return e; }, [&](const FloatImm&) { return e; },
          [&](const VarNode&) { return e; },
          [&](const Unary& n) { return MakeUnary(n.op, rewritten(n.a)); },
          [&](const Binary& n) { return MakeBinary(n.op, rewritten(n.a), rewritten(n.b)); },
          [&](const Fma& n) { return MakeFma(rewritten(n.a), rewritten(n.b), rewritten(n.c)); },
          [&](const Dot& n) {
            return MakeDot(n.kind, rewritten(n.sum), rewritten(n.a), rewritten(n.b));
          },
          [&](const Interleave& n) {
            std::vector<Expr> operands;
            for (const Expr& operand : n.operands) operands.push_back(rewritten(operand));
            return MakeInterleave(std::move(operands));
          },
          [&](const Compare& n) { return MakeCompare(n.op, rewritten(n.a), rewritten(n.b)); },
          [&](const Select& n) {
            return MakeSelect(rewritten(n.condition), rewritten(n.if_true), rewritten(n.if_false));
          },
          [&](const Cast& n) {
            const Expr& a = rewritten(n.a);
            return MakeCast(type.WithLanes(a.type().lanes), a);
          },
          [&](const Bitcast& n) { return MakeBitcast(type.dtype, rewritten(n.a)); },
          [&](const Load& n) {
            std::vector<Expr> index;
            for (const Expr& i : n.index) index.push_back(rewritten(i));
            return MakeLoad(n.buffer, std::move(index));
          },
          [&](const Ramp& n) { return MakeRamp(rewritten(n.base), n.stride, n.lanes); },
          [&](const Broadcast& n) { return MakeBroadcast(rewritten(n.a), n.lanes); }},
      e->value);
}

Expr MutateWithMemo(const Expr& root, const ExprFunction& f, Memo& memo,
                    std::unordered_set<const ExprNode*>& visited) {
  WalkPostOrder(root, visited, [&](const Expr& e) {
    Expr rebuilt =
        Rebuild(e, [&](const Expr& operand) -> const Expr& { return memo.at(operand.get()); });
    Expr replaced = f(rebuilt);
    memo[e.get()] = replaced ? std::move(replaced) : std::move(rebuilt);
  });
  return memo.at(root.get());
}

// Rewrites the expressions of the statement itself by `f`, but not those of statements within it.
template <typename F>
Stmt MutateOwnExprs(const Stmt& s, const F& f) {
  const auto all = [&](const std::vector<Expr>& exprs) {
    std::vector<Expr> out;
    for (const Expr& e : exprs) out.push_back(f(e));
    return out;
  };
  const auto arguments = [&](const std::vector<Argument>& args) {
    std::vector<Argument> out;
    for (const Argument& a : args) out.push_back({a.buffer, f(a.offset)});
    return out;
  };
  return std::visit(
      Overloaded{
          [&](const For& n) { return MakeFor(n.var, f(n.begin), f(n.extent), n.kind, n.body); },
          [&](const Store& n) { return MakeStore(n.buffer, all(n.index), f(n.value)); },
          [&](const Prefetch& n) { return MakePrefetch(n.buffer, f(n.offset), n.level); },
          [&](const Block&) { return s; },
          [&](const If& n) { return MakeIf(f(n.condition), n.then_body, n.else_body); },
          [&](const Allocate&) { return s; },
          [&](const Call& n) { return MakeCall(n.function, arguments(n.args), n.profile_index); },
          [&](const Launch& n) { return MakeLaunch(n.function, n.max_tasks, arguments(n.args)); },
          [&](const Fail& n) { return MakeFail(n.before, f(n.number), n.after); }},
      s->value);
}

// As MutateOwnExprs, but returns `s` if no expression changes.
template <typename F>
Stmt WithOwnExprs(const Stmt& s, const F& f) {
  bool changed = false;
  Stmt own = MutateOwnExprs(s, [&](const Expr& e) {
    Expr out = f(e);
    changed = changed || out.get() != e.get();
    return out;
  });
  return changed ? own : s;
}

// A substitution in any number of expressions. The results for nodes are kept, so that each node is
// rewritten once.
class Substituter {
 public:
  // Replaced nodes count as visited: the walk finds them in the memo and does not enter them.
  explicit Substituter(const Substitution& substitution) : memo_(substitution) {
    for (const auto& [node, unused] : substitution) visited_.insert(node);
  }

  Expr Rewrite(const Expr& e) {
    return MutateWithMemo(e, [](const Expr&) { return Expr(); }, memo_, visited_);
  }

  Stmt Rewrite(const Stmt& s) {
    if (!s) return s;
    const Stmt own = WithOwnExprs(s, [&](const Expr& e) { return Rewrite(e); });
    return MutateBodies(own, [&](const Stmt& inner) { return Rewrite(inner); });
  }

 private:
  Memo memo_;
  std::unordered_set<const ExprNode*> visited_;
};

}  // namespace

void VisitExpr(const Expr& e, const std::function<void(const Expr&)>& f) {
  std::unordered_set<const ExprNode*> visited;
  WalkPostOrder(e, visited, f);
}

void VisitStmt(const Stmt& s, const std::function<void(const Expr&)>& on_expr,
               const std::function<void(const Stmt&)>& on_stmt) {
  std::unordered_set<const ExprNode*> visited;
  const auto visit_expr = [&](const Expr& e) {
    if (on_expr) WalkPostOrder(e, visited, on_expr);
  };
  const std::function<void(const Stmt&)> visit = [&](const Stmt& stmt) {
    if (!stmt) return;
    if (on_stmt) on_stmt(stmt);
    std::visit(Overloaded{[&](const For& n) {
                            visit_expr(n.begin);
                            visit_expr(n.extent);
                            visit(n.body);
                          },
                          [&](const Store& n) {
                            for (const Expr& i : n.index) visit_expr(i);
                            visit_expr(n.value);
                          },
                          [&](const Prefetch& n) { visit_expr(n.offset); },
                          [&](const Block& n) {
                            for (const Stmt& inner : n.stmts) visit(inner);
                          },
                          [&](const If& n) {
                            visit_expr(n.condition);
                            visit(n.then_body);
                            visit(n.else_body);
                          },
                          [&](const Allocate& n) { visit(n.body); },
                          [&](const Call& n) {
                            for (const Argument& a : n.args) visit_expr(a.offset);
                          },
                          [&](const Launch& n) {
                            for (const Argument& a : n.args) visit_expr(a.offset);
                          },
                          [&](const Fail& n) { visit_expr(n.number); }},
               stmt->value);
  };
  visit(s);
}

Expr MutateExpr(const Expr& e, const ExprFunction& f) {
  Memo memo;
  std::unordered_set<const ExprNode*> visited;
  return MutateWithMemo(e, f, memo, visited);
}

Stmt MutateBodies(const Stmt& s, const std::function<Stmt(const Stmt&)>& f) {
  if (!s) return s;
  return std::visit(Overloaded{[&](const For& n) {
                                 Stmt body = f(n.body);
                                 if (body.get() == n.body.get()) return s;
                                 return MakeFor(n.var, n.begin, n.extent, n.kind, std::move(body));
                               },
                               [&](const Block& n) {
                                 std::vector<Stmt> stmts;
                                 bool changed = false;
                                 for (const Stmt& stmt : n.stmts) {
                                   stmts.push_back(f(stmt));
                                   changed = changed || stmts.back().get() != stmt.get();
                                 }
                                 return changed ? MakeBlock(std::move(stmts)) : s;
                               },
                               [&](const If& n) {
                                 Stmt then_body = f(n.then_body), else_body = f(n.else_body);
                                 if (then_body.get() == n.then_body.get() &&
                                     else_body.get() == n.else_body.get()) {
                                   return s;
                                 }
                                 return MakeIf(n.condition, std::move(then_body),
                                               std::move(else_body));
                               },
                               [&](const Allocate& n) {
                                 Stmt body = f(n.body);
                                 if (body.get() == n.body.get()) return s;
                                 return MakeAllocate(n.buffer, std::move(body), n.workspace_offset);
                               },
                               [&](const Store&) { return s; }, [&](const Prefetch&) { return s; },
                               [&](const Call&) { return s; }, [&](const Launch&) { return s; },
                               [&](const Fail&) { return s; }},
                    s->value);
}

Stmt MutateExprs(const Stmt& s, const ExprFunction& f) {
  if (!s) return s;
  Memo memo;
  std::unordered_set<const ExprNode*> visited;
  const Stmt own =
      WithOwnExprs(s, [&](const Expr& e) { return MutateWithMemo(e, f, memo, visited); });
  return MutateBodies(own, [&](const Stmt& inner) { return MutateExprs(inner, f); });
}

Stmt MutateStmt(const Stmt& s, const std::function<Stmt(const Stmt&)>& f) {
  if (!s) return s;
  Stmt rebuilt = MutateBodies(s, [&](const Stmt& inner) { return MutateStmt(inner, f); });
  return rebuilt ? f(rebuilt) : rebuilt;
}

Expr Substitute(const Expr& e, const Substitution& substitution) {
  return Substituter(substitution).Rewrite(e);
}

Stmt Substitute(const Stmt& s, const Substitution& substitution) {
  return Substituter(substitution).Rewrite(s);
}

Stmt ReplaceBuffers(const Stmt& s, const BufferReplacement& replacement) {
  auto replaced = [&](const Buffer& buffer) {
    auto it = replacement.find(buffer.get());
    return it == replacement.end() ? buffer : it->second;
  };
  auto replace_arguments = [&](std::vector<Argument> args) {
    for (Argument& arg : args) {
      if (arg.buffer) arg.buffer = replaced(arg.buffer);
    }
    return args;
  };
  const Stmt loads = MutateExprs(s, [&](const Expr& e) {
    const auto* load = e.As<Load>();
    return load == nullptr ? Expr() : MakeLoad(replaced(load->buffer), load->index);
  });
  return MutateStmt(loads, [&](const Stmt& stmt) {
    if (const auto* n = stmt.As<Store>()) return MakeStore(replaced(n->buffer), n->index, n->value);
    if (const auto* n = stmt.As<Prefetch>())
      return MakePrefetch(replaced(n->buffer), n->offset, n->level);
    if (const auto* n = stmt.As<Allocate>())
      return MakeAllocate(replaced(n->buffer), n->body, n->workspace_offset);
    if (const auto* n = stmt.As<Call>())
      return MakeCall(n->function, replace_arguments(n->args), n->profile_index);
    if (const auto* n = stmt.As<Launch>()) {
      return MakeLaunch(n->function, n->max_tasks, replace_arguments(n->args));
    }
    return stmt;
  });
}

bool Uses(const Expr& e, const Var& var) {
  bool found = false;
  VisitExpr(e, [&](const Expr& node) { found = found || node.get() == var.get(); });
  return found;
}

bool CallsFunctions(const Stmt& s) {
  bool calls = false;
  VisitStmt(
      s, [](const Expr&) {},
      [&](const Stmt& part) {
        calls = calls || part.As<Call>() != nullptr || part.As<Launch>() != nullptr;
      });
  return calls;
}

std::unordered_set<const ExprNode*> VarsOf(const Expr& e) {
  std::unordered_set<const ExprNode*> vars;
  VisitExpr(e, [&](const Expr& node) {
    if (node.As<VarNode>() != nullptr) vars.insert(node.get());
  });
  return vars;
}

}  // namespace kiln::loop
