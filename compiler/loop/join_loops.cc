// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/runs.h"
#include "compiler/loop/small_loops.h"

namespace kiln::loop {
namespace {

// True if the store and all loads of its value step through their buffers one element at a time,
// and their elements have the same size. Parts of one memory then keep their distance. Constants
// are exempt, as they share memory with nothing.
bool IsElementWise(const Store& store, const Var& var) {
  const int bytes = store.buffer->dtype.bytes();
  bool result = true;
  const auto see = [&](const Buffer& buffer, const Expr& index) {
    if (buffer->scope == BufferScope::kConstant) return;
    LinearForm form;
    result &= buffer->dtype.bytes() == bytes && AsLinear(index, {var}, &form) &&
              form.coefficients[0] == 1;
  };
  see(store.buffer, store.index[0]);
  VisitExpr(store.value, [&](const Expr& e) {
    if (const auto* load = e.As<Load>()) see(load->buffer, load->index[0]);
  });
  return result;
}

Stmt JoinedLoops(const Stmt& s) {
  const auto* outer = s.As<For>();
  const auto* inner = outer == nullptr ? nullptr : outer->body.As<For>();
  if (inner == nullptr || outer->kind != ForKind::kSerial) return s;
  const bool is_in_order = inner->kind == ForKind::kSerial || inner->kind == ForKind::kVectorized;
  const auto* store = inner->body.As<Store>();
  int64_t extent, inner_extent;
  if (!is_in_order || store == nullptr || !IsInt(outer->begin, 0) || !IsInt(inner->begin, 0) ||
      !AsInt(outer->extent, &extent) || !AsInt(inner->extent, &inner_extent) ||
      !GoesOn(*outer, *inner, inner_extent, *store) || !IsElementWise(*store, inner->var)) {
    return s;
  }
  return MakeFor(inner->var, 0, extent * inner_extent, inner->kind,
                 Substitute(inner->body, {{outer->var.get(), Expr(0)}}));
}

}  // namespace

Stmt JoinLoops(const Stmt& s) {
  const Stmt joined = MutateStmt(s, JoinedLoops);
  return joined.get() == s.get() ? s : Simplify(joined);
}

}  // namespace kiln::loop
