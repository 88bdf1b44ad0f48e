// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/work.h"

#include <vector>

#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

class WorkCounter {
 public:
  void Visit(const Stmt& s) {
    if (!s) return;
    if (const auto* n = s.As<For>()) {
      around_.push_back(n);
      Visit(n->body);
      around_.pop_back();
    } else if (const auto* n = s.As<Block>()) {
      for (const Stmt& stmt : n->stmts) Visit(stmt);
    } else if (const auto* n = s.As<If>()) {
      Visit(n->then_body);
      Visit(n->else_body);
    } else if (const auto* n = s.As<Allocate>()) {
      Visit(n->body);
    } else {
      VisitStmt(s, [this](const Expr& e) { Count(e); });
    }
  }

  const Work& work() const { return work_; }

 private:
  static bool IsGuard(const Expr& e) {
    if (const auto* n = e.As<Compare>()) return n->a.type() == Type::Index();
    const auto* n = e.As<Binary>();
    return n != nullptr && e.type() == Type::Index() &&
           (n->op == BinaryOp::kMin || n->op == BinaryOp::kMax);
  }

  static double Cost(const Expr& e) {
    const auto* dot = e.As<Dot>();
    const auto* unary = e.As<Unary>();
    // Saturation is two operations, each with a constant.
    if (unary != nullptr && SaturationOf(unary->op).has_value()) return 4;
    return dot == nullptr ? 1.0
                          : static_cast<double>(e.type().lanes) * dot->kind.steps * dot->kind.group;
  }

  void Count(const Expr& e) {
    double times = 1, of_guard = 1;
    for (const For* loop : around_) {
      times *= Iterations(*loop);
      const bool may_share = loop->kind == ForKind::kUnrolled || loop->kind == ForKind::kVectorized;
      if (!may_share || Uses(e, loop->var)) of_guard *= Iterations(*loop);
    }
    work_.all += times * Cost(e);
    if (IsGuard(e)) work_.guards += of_guard;
  }

  std::vector<const For*> around_;
  Work work_;
};

}  // namespace

int64_t CodeSize(const Stmt& s) {
  if (!s) return 0;
  if (const auto* n = s.As<For>()) {
    int64_t copies = 1;
    if (n->kind == ForKind::kUnrolled) AsInt(n->extent, &copies);
    return 2 + copies * CodeSize(n->body);
  }
  if (const auto* n = s.As<Block>()) {
    int64_t size = 0;
    for (const Stmt& stmt : n->stmts) size += CodeSize(stmt);
    return size;
  }
  if (const auto* n = s.As<If>()) return 2 + CodeSize(n->then_body) + CodeSize(n->else_body);
  if (const auto* n = s.As<Allocate>()) return CodeSize(n->body);
  int64_t size = 1;
  VisitStmt(s, [&](const Expr&) { ++size; });
  return size;
}

double Iterations(const For& loop) {
  int64_t extent;
  return AsInt(loop.extent, &extent) ? static_cast<double>(extent) : 1.0;
}

Work WorkOf(const Stmt& s) {
  WorkCounter counter;
  counter.Visit(s);
  return counter.work();
}

}  // namespace kiln::loop
