// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/accumulate.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/target/float_units.h"

namespace kiln::schedule {
namespace {

// Returns combine(sum, term), as a dot product or a fused multiply-add if possible.
Expr Combined(loop::Combine combine, const Expr& sum, const Expr& term, const Target& target) {
  if (const auto* dot = term.As<loop::Dot>()) {
    return loop::MakeDot(dot->kind, sum, dot->a, dot->b);
  }
  if (IsFused(combine, term, target)) {
    const auto& product = *term.As<loop::Binary>();
    return loop::MakeFma(product.a, product.b, sum);
  }
  return loop::CombineExprs(combine, sum, term);
}

}  // namespace

bool IsFused(loop::Combine combine, const Expr& term, const Target& target) {
  const auto* product = term.As<loop::Binary>();
  return combine == loop::Combine::kSum && product != nullptr &&
         product->op == loop::BinaryOp::kMul && FusesMultiplyAdd(target, term.type().dtype);
}

Buffer LocalBuffer(const Stage& stage, absl::string_view suffix, Shape shape) {
  return loop::MakeBuffer(absl::StrCat(stage.buffer->name, suffix), stage.value.type().dtype,
                          std::move(shape), loop::BufferScope::kLocal);
}

Stmt Accumulate(const Buffer& acc, int64_t extent, ForKind kind, loop::Combine combine,
                const Target& target, const std::function<Expr(const Expr& lane)>& term) {
  const Var lane = loop::MakeVar("lane");
  const Expr sum = loop::MakeLoad(acc, {lane});
  return loop::MakeFor(lane, 0, extent, kind,
                       loop::MakeStore(acc, {lane}, Combined(combine, sum, term(lane), target)));
}

Stmt Fill(const Buffer& acc, int64_t extent, ForKind kind, const Expr& value) {
  const Var lane = loop::MakeVar("lane");
  return loop::MakeFor(lane, 0, extent, kind, loop::MakeStore(acc, {lane}, value));
}

}  // namespace kiln::schedule
