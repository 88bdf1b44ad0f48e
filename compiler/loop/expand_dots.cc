// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// The value of one lane of a vector: scalar operations on lanes of its operands.
Expr LaneOf(const Expr& e, int lane) {
  if (!e.type().is_vector()) return e;
  if (const auto* n = e.As<Ramp>()) return n->base + Expr(n->stride * lane);
  if (const auto* n = e.As<Broadcast>()) return n->a;
  if (const auto* n = e.As<Interleave>()) {
    return LaneOf(n->operands[n->WhichOperand(lane)], n->InOperand(lane));
  }
  if (const auto* n = e.As<Load>()) {
    std::vector<Expr> index;
    for (const Expr& i : n->index) index.push_back(LaneOf(i, lane));
    return MakeLoad(n->buffer, std::move(index));
  }
  if (const auto* n = e.As<Cast>()) return MakeCast(e.type().WithLanes(1), LaneOf(n->a, lane));
  if (const auto* n = e.As<Bitcast>()) return MakeBitcast(e.type().dtype, LaneOf(n->a, lane));
  if (const auto* n = e.As<Unary>()) return MakeUnary(n->op, LaneOf(n->a, lane));
  if (const auto* n = e.As<Binary>()) {
    return MakeBinary(n->op, LaneOf(n->a, lane), LaneOf(n->b, lane));
  }
  return {};
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

}  // namespace

Stmt ExpandDots(const Stmt& s, const std::function<bool(const Dot&)>& keeps) {
  return MutateExprs(s, [&](const Expr& e) {
    const auto* dot = e.As<Dot>();
    if (dot == nullptr || e.type().is_vector() || keeps(*dot)) return Expr();
    return Expanded(e, *dot);
  });
}

}  // namespace kiln::loop
