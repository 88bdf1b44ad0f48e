// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/bfloat16.h"
#include "compiler/loop/lane_of.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// Returns sum + a[0] * b[0] + …. Returns an empty expression if a lane of a factor cannot be
// extracted.
Expr Expanded(const Expr& e, const Dot& dot) {
  const DotShape shape = *DotShape::Of(1, dot.a.type().lanes, dot.b.type().lanes, dot.kind);
  bool is_known = true;
  const auto add_product = [&](const Expr& sum, int term, const DotShape::Product& parts) {
    const Expr a = LaneOf(dot.a, Expr(shape.InA(0, term, parts.of_a))),
               b = LaneOf(dot.b, Expr(shape.InB(0, term, parts.of_b)));
    is_known = is_known && a.get() != nullptr && b.get() != nullptr;
    if (!is_known) return sum;
    return e.type().dtype.is_float() ? AddBFloatProduct(sum, a, b)
                                     : sum + MakeCast(e.type(), a) * MakeCast(e.type(), b);
  };
  Expr sum = dot.sum;
  if (e.type().dtype.is_float()) {
    sum = SumBFloatProducts(shape, sum, Const(e.type(), 0), add_product, AddSumOfBFloats);
  } else {
    for (int term = 0; term < shape.terms(); ++term) {
      for (const DotShape::Product& parts : shape.products()) sum = add_product(sum, term, parts);
    }
  }
  return is_known ? sum : Expr();
}

bool Loads(const Expr& e, const Buffer& buffer) {
  bool loads = false;
  VisitExpr(e, [&](const Expr& at) {
    const auto* load = at.As<Load>();
    loads |= load != nullptr && load->buffer == buffer;
  });
  return loads;
}

// Splits the store of a vector into stores of its lanes. Returns `s` if a lane cannot be extracted.
Stmt LanesOf(const Store& store, const Stmt& s) {
  std::vector<Stmt> lanes;
  for (int lane = 0; lane < store.value.type().lanes; ++lane) {
    const Expr index = LaneOf(store.index[0], Expr(lane)), value = LaneOf(store.value, Expr(lane));
    if (value.get() == nullptr || index.get() == nullptr) return s;
    lanes.push_back(MakeStore(store.buffer, {index}, value));
  }
  return MakeBlock(std::move(lanes));
}

}  // namespace

Stmt ExpandVectors(const Stmt& s, const std::function<bool(const Store&)>& keeps) {
  return MutateStmt(s, [&](const Stmt& at) {
    const auto* store = at.As<Store>();
    const bool is_vector = store != nullptr && store->value.type().is_vector();
    if (!is_vector || store->value.As<Dot>() != nullptr || keeps(*store) ||
        Loads(store->value, store->buffer)) {
      return at;
    }
    return LanesOf(*store, at);
  });
}

Stmt ExpandDots(const Stmt& s, const std::function<bool(const Dot&)>& keeps) {
  return MutateExprs(s, [&](const Expr& e) {
    const auto* dot = e.As<Dot>();
    if (dot == nullptr || e.type().is_vector() || keeps(*dot)) return Expr();
    return Expanded(e, *dot);
  });
}

}  // namespace kiln::loop
