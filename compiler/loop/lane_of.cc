// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/lane_of.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"

namespace kiln::loop {
namespace {

using Lanes = std::unordered_map<const ExprNode*, Expr>;

// `lanes` holds the lanes of the operands.
Expr LaneOfNode(const Expr& e, const Expr& lane, const Lanes& lanes) {
  if (!e.type().is_vector()) return e;
  if (const auto* n = e.As<Ramp>()) return n->base + lane * Expr(n->stride);
  if (const auto* n = e.As<Broadcast>()) return n->a;
  if (const auto* n = e.As<Interleave>()) {
    int64_t which = 0;
    if (!AsInt(lane, &which)) return {};
    const int of_result = static_cast<int>(which);
    return LaneOf(n->operands[n->WhichOperand(of_result)], Expr(n->InOperand(of_result)));
  }
  std::vector<Expr> in;
  bool known = true;
  ForEachOperand(*e, [&](const Expr& operand) {
    in.push_back(lanes.at(operand.get()));
    known &= in.back().get() != nullptr;
  });
  if (!known) return {};
  if (const auto* n = e.As<Load>()) return MakeLoad(n->buffer, std::move(in));
  if (const auto* n = e.As<Unary>()) return MakeUnary(n->op, in[0]);
  if (const auto* n = e.As<Binary>()) return MakeBinary(n->op, in[0], in[1]);
  if (e.As<Fma>() != nullptr) return MakeFma(in[0], in[1], in[2]);
  if (const auto* n = e.As<Compare>()) return MakeCompare(n->op, in[0], in[1]);
  if (e.As<Select>() != nullptr) return MakeSelect(in[0], in[1], in[2]);
  if (e.As<Cast>() != nullptr) return MakeCast(e.type().WithLanes(1), in[0]);
  if (e.As<Bitcast>() != nullptr) return MakeBitcast(e.type().dtype, in[0]);
  return {};
}

}  // namespace

Expr LaneOf(const Expr& e, const Expr& lane) {
  Lanes lanes;
  VisitExpr(e, [&](const Expr& at) { lanes.emplace(at.get(), LaneOfNode(at, lane, lanes)); });
  return lanes.at(e.get());
}

}  // namespace kiln::loop
