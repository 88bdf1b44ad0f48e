// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// True if an access of `buffer` by `index` needs no change.
bool IsFlat(const Buffer& buffer, const std::vector<Expr>& index) {
  return index.size() == 1 && buffer->whole == nullptr;
}

const Buffer& WholeOf(const Buffer& buffer) {
  return buffer->whole == nullptr ? buffer : buffer->whole;
}

// Returns the index in elements of WholeOf(buffer). A single index is in elements already.
Expr FlatIndex(const Buffer& buffer, const std::vector<Expr>& index) {
  Expr flat = index.empty() ? Expr(0) : index[0];
  if (buffer->whole == nullptr) {
    for (size_t i = 1; i < index.size(); ++i) flat = flat * Expr(buffer->shape[i]) + index[i];
    return flat;
  }
  if (index.size() > 1) {
    flat = flat * Expr(buffer->slice_strides[0]);
    for (size_t i = 1; i < index.size(); ++i) {
      flat = flat + index[i] * Expr(buffer->slice_strides[i]);
    }
  }
  return flat + Expr(buffer->first);
}

}  // namespace

Stmt FlattenBuffers(const Stmt& s) {
  Stmt loads = MutateExprs(s, [](const Expr& e) {
    const auto* load = e.As<Load>();
    if (load == nullptr || IsFlat(load->buffer, load->index)) return Expr();
    return MakeLoad(WholeOf(load->buffer), {FlatIndex(load->buffer, load->index)});
  });
  return MutateStmt(loads, [](const Stmt& stmt) {
    const auto* prefetch = stmt.As<Prefetch>();
    if (prefetch != nullptr && prefetch->buffer->whole != nullptr) {
      return MakePrefetch(WholeOf(prefetch->buffer),
                          prefetch->offset + Expr(prefetch->buffer->first));
    }
    const auto* store = stmt.As<Store>();
    if (store == nullptr || IsFlat(store->buffer, store->index)) return stmt;
    return MakeStore(WholeOf(store->buffer), {FlatIndex(store->buffer, store->index)},
                     store->value);
  });
}

}  // namespace kiln::loop
