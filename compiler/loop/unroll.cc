// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

class Unroller {
 public:
  Stmt Visit(const Stmt& s) {
    if (const auto* n = s.As<For>()) return VisitFor(*n);
    if (const auto* n = s.As<Block>()) {
      std::vector<Stmt> stmts;
      for (const Stmt& stmt : n->stmts) stmts.push_back(Visit(stmt));
      return MakeBlock(std::move(stmts));
    }
    if (const auto* n = s.As<If>()) {
      return MakeIf(Apply(n->condition), Visit(n->then_body), Visit(n->else_body));
    }
    if (const auto* n = s.As<Allocate>()) {
      return MakeAllocate(n->buffer, Visit(n->body), n->workspace_offset);
    }
    return s && !values_.empty() ? Substitute(s, values_) : s;
  }

 private:
  Expr Apply(const Expr& e) const { return values_.empty() ? e : Substitute(e, values_); }

  Stmt VisitFor(const For& loop) {
    const Expr begin = Apply(loop.begin);
    const Expr extent = Apply(loop.extent);
    int64_t count;
    if (loop.kind != ForKind::kUnrolled || !AsInt(extent, &count)) {
      const ForKind kind = loop.kind == ForKind::kUnrolled ? ForKind::kSerial : loop.kind;
      // If the range of a loop depends on an unrolled variable, its copies are different loops.
      if (begin.get() == loop.begin.get() && extent.get() == loop.extent.get()) {
        return MakeFor(loop.var, begin, extent, kind, Visit(loop.body));
      }
      const Var var = MakeVar(loop.var.As<VarNode>()->name);
      values_[loop.var.get()] = var;
      Stmt body = Visit(loop.body);
      values_.erase(loop.var.get());
      return MakeFor(var, begin, extent, kind, std::move(body));
    }
    std::vector<Stmt> copies;
    for (int64_t i = 0; i < count; ++i) {
      values_[loop.var.get()] = begin + Expr(i);
      copies.push_back(Visit(loop.body));
    }
    values_.erase(loop.var.get());
    return MakeBlock(std::move(copies));
  }

  Substitution values_;
};

}  // namespace

Stmt UnrollLoops(const Stmt& s) { return Unroller().Visit(s); }

}  // namespace kiln::loop
