// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/same_statement.h"

#include <cstddef>
#include <vector>

namespace kiln::loop {
namespace {

bool Same(const Expr& a, const Expr& b, ExprPool& pool) {
  if (a.get() == b.get()) return true;
  return a.get() != nullptr && b.get() != nullptr && pool.Intern(a).get() == pool.Intern(b).get();
}
bool Same(const std::vector<Expr>& a, const std::vector<Expr>& b, ExprPool& pool) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Same(a[i], b[i], pool)) return false;
  }
  return true;
}

}  // namespace

bool IsSame(const Stmt& a, const Stmt& b, ExprPool& pool) {
  if (a.get() == b.get()) return true;
  if (!a || !b || a->value.index() != b->value.index()) return false;
  if (const auto *x = a.As<For>(), *y = b.As<For>(); x != nullptr) {
    return x->var.get() == y->var.get() && x->kind == y->kind && Same(x->begin, y->begin, pool) &&
           Same(x->extent, y->extent, pool) && IsSame(x->body, y->body, pool);
  }
  if (const auto *x = a.As<Store>(), *y = b.As<Store>(); x != nullptr) {
    return x->buffer == y->buffer && Same(x->index, y->index, pool) &&
           Same(x->value, y->value, pool);
  }
  if (const auto *x = a.As<Prefetch>(), *y = b.As<Prefetch>(); x != nullptr) {
    return x->buffer == y->buffer && x->level == y->level && Same(x->offset, y->offset, pool);
  }
  if (const auto *x = a.As<Block>(), *y = b.As<Block>(); x != nullptr) {
    if (x->stmts.size() != y->stmts.size()) return false;
    for (size_t i = 0; i < x->stmts.size(); ++i) {
      if (!IsSame(x->stmts[i], y->stmts[i], pool)) return false;
    }
    return true;
  }
  if (const auto *x = a.As<If>(), *y = b.As<If>(); x != nullptr) {
    return Same(x->condition, y->condition, pool) && IsSame(x->then_body, y->then_body, pool) &&
           IsSame(x->else_body, y->else_body, pool);
  }
  if (const auto *x = a.As<Allocate>(), *y = b.As<Allocate>(); x != nullptr) {
    return x->buffer == y->buffer && x->workspace_offset == y->workspace_offset &&
           IsSame(x->body, y->body, pool);
  }
  if (const auto *x = a.As<Fail>(), *y = b.As<Fail>(); x != nullptr) {
    return x->before == y->before && x->after == y->after && Same(x->number, y->number, pool);
  }
  return false;
}

}  // namespace kiln::loop
