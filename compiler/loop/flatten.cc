// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// Row-major; an index that is one already stays.
std::vector<Expr> FlatIndex(const Buffer& buffer, const std::vector<Expr>& index) {
  if (index.size() == 1) return index;
  if (index.empty()) return {Expr(0)};
  Expr flat = index[0];
  for (size_t i = 1; i < index.size(); ++i) flat = flat * Expr(buffer->shape[i]) + index[i];
  return {std::move(flat)};
}

}  // namespace

Stmt FlattenBuffers(const Stmt& s) {
  Stmt loads = MutateExprs(s, [](const Expr& e) {
    const auto* load = e.As<Load>();
    if (load == nullptr || load->index.size() == 1) return Expr();
    return MakeLoad(load->buffer, FlatIndex(load->buffer, load->index));
  });
  return MutateStmt(loads, [](const Stmt& stmt) {
    const auto* store = stmt.As<Store>();
    if (store == nullptr || store->index.size() == 1) return stmt;
    return MakeStore(store->buffer, FlatIndex(store->buffer, store->index), store->value);
  });
}

}  // namespace kiln::loop
