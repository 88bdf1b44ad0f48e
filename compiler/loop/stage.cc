// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/stage.h"

#include <cmath>
#include <limits>
#include <utility>

#include "compiler/loop/check.h"
#include "compiler/loop/mutate.h"

namespace kiln::loop {
namespace {

bool MayBeNan(const Expr& x) {
  if (!x.type().dtype.is_float()) return false;
  const auto* literal = x.As<FloatImm>();
  return literal == nullptr || std::isnan(literal->value);
}

// Applies `of`, which is Max or Min, so that a NaN in either operand is kept. Max and Min keep a
// NaN of their first operand.
Expr KeepingNan(Expr (*of)(Expr, Expr), Expr a, Expr b) {
  if (!MayBeNan(b)) return of(std::move(a), std::move(b));
  if (!MayBeNan(a)) return of(std::move(b), std::move(a));
  // The literal NaN, not b: with b, LLVM would merge the selects, which share an operand, and lose
  // the instruction.
  const Expr nan = FloatConst(b.type(), std::numeric_limits<double>::quiet_NaN());
  return MakeSelect(b != b, nan, of(std::move(a), b));
}

}  // namespace

Expr Maximum(Expr a, Expr b) { return KeepingNan(Max, std::move(a), std::move(b)); }
Expr Minimum(Expr a, Expr b) { return KeepingNan(Min, std::move(a), std::move(b)); }

Expr CombineExprs(Combine combine, Expr acc, Expr term) {
  switch (combine) {
    case Combine::kSum:
      return acc + term;
    case Combine::kProd:
      return acc * term;
    case Combine::kMax:
      return Maximum(std::move(acc), std::move(term));
    case Combine::kMin:
      return Minimum(std::move(acc), std::move(term));
    case Combine::kMaxOfNumbers:
      return Max(std::move(acc), std::move(term));
    case Combine::kNone:
      break;
  }
  KILN_CHECK(false, "a stage without a reduction combines nothing");
}

Stmt PlainRankLoops(const Stage& stage) {
  const DType i32 = DType::Int(32);
  const Axis &ranks = stage.axes[*stage.rank_axis], &place = stage.reduce[0];
  const Var other = MakeVar("other");
  const Expr key = stage.value, other_key = Substitute(key, {{place.var.get(), other}});
  const Expr stands_before = other_key < key || (other_key == key && other < place.var);
  const Buffer before = MakeBuffer("before", i32, {1}, BufferScope::kLocal);
  const Expr count = MakeLoad(before, {0}), rank = ToIndex(count);
  std::vector<Expr> index;
  for (const Expr& i : stage.index) index.push_back(Substitute(i, {{ranks.var.get(), rank}}));
  const Stmt body =
      MakeBlock({MakeStore(before, {0}, Const(i32, 0)),
                 MakeFor(other, 0, place.extent, ForKind::kSerial,
                         MakeStore(before, {0}, count + MakeCast(i32, stands_before))),
                 MakeIf(rank < Expr(ranks.extent),
                        MakeStore(stage.buffer, index, MakeCast(i32, place.var)), {})});
  Stmt loops = MakeFor(place.var, 0, place.extent, ForKind::kSerial, MakeAllocate(before, body));
  for (size_t i = stage.axes.size(); i-- > 0;) {
    if (i == *stage.rank_axis) continue;
    loops = MakeFor(stage.axes[i].var, 0, stage.axes[i].extent, ForKind::kSerial, loops);
  }
  return loops;
}

}  // namespace kiln::loop
