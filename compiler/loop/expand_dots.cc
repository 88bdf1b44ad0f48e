// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// The value of one lane of a vector: scalar operations on lanes of its operands; empty if there is
// another operation in it.
Expr LaneOf(const Expr& e, int lane) {
  if (!e.type().is_vector()) return e;
  if (const auto* n = e.As<Ramp>()) return n->base + Expr(n->stride * lane);
  if (const auto* n = e.As<Broadcast>()) return n->a;
  if (const auto* n = e.As<Interleave>()) {
    return LaneOf(n->operands[n->WhichOperand(lane)], n->InOperand(lane));
  }
  bool known = true;
  const auto of = [&](const Expr& operand) {
    Expr own = LaneOf(operand, lane);
    known &= own.get() != nullptr;
    return own;
  };
  if (const auto* n = e.As<Load>()) {
    std::vector<Expr> index;
    for (const Expr& i : n->index) index.push_back(of(i));
    return known ? MakeLoad(n->buffer, std::move(index)) : Expr();
  }
  if (const auto* n = e.As<Binary>()) {
    const Expr a = of(n->a), b = of(n->b);
    return known ? MakeBinary(n->op, a, b) : Expr();
  }
  const auto* cast = e.As<Cast>();
  const auto* bitcast = e.As<Bitcast>();
  const auto* unary = e.As<Unary>();
  if (cast == nullptr && bitcast == nullptr && unary == nullptr) return {};
  const Expr a = of(cast != nullptr ? cast->a : bitcast != nullptr ? bitcast->a : unary->a);
  if (!known) return {};
  if (cast != nullptr) return MakeCast(e.type().WithLanes(1), a);
  return bitcast != nullptr ? MakeBitcast(e.type().dtype, a) : MakeUnary(unary->op, a);
}

// sum + a[0] * b[0] + …; empty if a lane of a factor cannot be told from the others.
Expr Expanded(const Expr& e, const Dot& dot) {
  const DotShape shape = *DotShape::Of(1, dot.a.type().lanes, dot.b.type().lanes, dot.kind);
  Expr sum = dot.sum;
  for (int k = 0; k < shape.terms(); ++k) {
    const Expr a = LaneOf(dot.a, shape.InA(0, k)), b = LaneOf(dot.b, shape.InB(0, k));
    if (a.get() == nullptr || b.get() == nullptr) return {};
    sum = sum + MakeCast(e.type(), a) * MakeCast(e.type(), b);
  }
  return sum;
}

bool Loads(const Expr& e, const Buffer& buffer) {
  bool loads = false;
  VisitExpr(e, [&](const Expr& at) {
    const auto* load = at.As<Load>();
    loads |= load != nullptr && load->buffer == buffer;
  });
  return loads;
}

// The store of a vector as stores of its lanes; other statements, stores of dots among them, as they
// are.
Stmt LanesOf(const Stmt& s) {
  const auto* store = s.As<Store>();
  if (store == nullptr || !store->value.type().is_vector() || store->value.As<Dot>() != nullptr ||
      Loads(store->value, store->buffer)) {
    return s;
  }
  std::vector<Stmt> lanes;
  for (int lane = 0; lane < store->value.type().lanes; ++lane) {
    std::vector<Expr> index;
    for (const Expr& i : store->index) index.push_back(LaneOf(i, lane));
    const Expr value = LaneOf(store->value, lane);
    if (value.get() == nullptr || index[0].get() == nullptr) return s;
    lanes.push_back(MakeStore(store->buffer, std::move(index), value));
  }
  return MakeBlock(std::move(lanes));
}

}  // namespace

Stmt ExpandVectors(const Stmt& s) { return MutateStmt(s, LanesOf); }

Stmt ExpandDots(const Stmt& s, const std::function<bool(const Dot&)>& keeps) {
  return MutateExprs(s, [&](const Expr& e) {
    const auto* dot = e.As<Dot>();
    if (dot == nullptr || e.type().is_vector() || keeps(*dot)) return Expr();
    return Expanded(e, *dot);
  });
}

}  // namespace kiln::loop
