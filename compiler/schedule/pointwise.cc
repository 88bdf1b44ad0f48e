// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/families.h"

namespace kiln::schedule {
namespace {

// Vectors in the innermost loop of a one-dimensional nest: enough to amortise the loop, small
// enough to divide among threads.
constexpr int kVectorsPerBlock = 4;

// A single axis as blocks of a constant size, outermost parallel, and what is left behind them.
Stmt BlockedLoop(const Axis& axis, int64_t block, ForKind outer_kind, const Stmt& body) {
  const int64_t blocks = axis.extent / block;
  std::vector<Stmt> parts;
  const auto inner = [&](const Expr& begin, int64_t extent) {
    const Var lane = loop::MakeVar(axis.var.As<loop::VarNode>()->name);
    return loop::MakeFor(lane, 0, extent, ForKind::kVectorized,
                         loop::Substitute(body, {{axis.var.get(), begin + lane}}));
  };
  if (blocks > 0) {
    const Var outer = loop::MakeVar("block");
    parts.push_back(loop::MakeFor(outer, 0, blocks, outer_kind, inner(outer * Expr(block), block)));
  }
  if (const int64_t rest = axis.extent - blocks * block; rest > 0) {
    parts.push_back(inner(blocks * block, rest));
  }
  return loop::MakeBlock(std::move(parts));
}

}  // namespace

Stmt PointwiseNest(const Stage& stage, Context& context) {
  const Stage merged = MergeAxes(stage);
  const Stmt store = loop::MakeStore(merged.buffer, merged.index, merged.value);
  const ForKind outer =
      WorthThreads(Cost(stage), context.target) ? ForKind::kParallel : ForKind::kSerial;
  if (context.description.empty()) context.description = "pointwise";
  if (merged.axes.empty()) return store;
  const DType dtype = merged.value.type().dtype;
  if (merged.axes.size() == 1) {
    const int64_t block = int64_t{context.Lanes(dtype)} * kVectorsPerBlock;
    return BlockedLoop(merged.axes[0], block, outer, store);
  }
  std::vector<Axis> middle(merged.axes.begin() + 1, merged.axes.end() - 1);
  const Axis& inner = merged.axes.back();
  Stmt nest = loop::MakeFor(inner.var, 0, inner.extent, ForKind::kVectorized, store);
  nest = Nest(middle, ForKind::kSerial, nest);
  return Nest({merged.axes.front()}, outer, nest);
}

}  // namespace kiln::schedule
