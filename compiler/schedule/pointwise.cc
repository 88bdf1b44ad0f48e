// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "compiler/schedule/families.h"
#include "compiler/schedule/tile_shape.h"

namespace kiln::schedule {
namespace {

// Prefetches the data that a stage reads and writes contiguously along its innermost axis, once for
// each buffer. Does nothing if these data stay in the L2 cache.
class AskingAhead {
 public:
  AskingAhead(const Stage& stage, const Target& target)
      : distance_(target.machine->pointwise.prefetch_bytes) {
    loop::Bounds bounds;
    AddBounds(stage.axes, bounds);
    const Axis& inner = stage.axes.back();
    AccessSet set = CollectAccesses(stage.value, {inner.var}, bounds);
    std::vector<LinearAccess> all = std::move(set.linear);
    LinearAccess store{.load = nullptr, .buffer = stage.buffer, .form = {}};
    if (loop::AsLinear(FlatIndex(stage.buffer, stage.index, bounds), {inner.var}, &store.form)) {
      all.push_back(std::move(store));
    }
    int64_t bytes = 0;
    std::set<Buffer> seen;
    for (LinearAccess& access : all) {
      if (access.form.coefficients[0] != 1 || !seen.insert(access.buffer).second) continue;
      bytes += access.buffer->num_bytes();
      contiguous_.push_back(std::move(access));
    }
    if (!target.has_caches || bytes <= target.l2_bytes) contiguous_.clear();
  }

  bool asks() const { return !contiguous_.empty(); }

  // Returns prefetches for `extent` elements from `begin` on, `distance_` bytes ahead.
  Stmt Emit(const Expr& begin, int64_t extent) const {
    std::vector<Stmt> stmts;
    for (const LinearAccess& access : contiguous_) {
      const int64_t element = access.buffer->dtype.bytes();
      const int64_t line = LineElements(access.buffer->dtype);
      for (int64_t i = 0; i < extent; i += line) {
        stmts.push_back(loop::MakePrefetch(
            access.buffer, access.form.base + begin + Expr(i + distance_ / element)));
      }
    }
    return loop::MakeBlock(std::move(stmts));
  }

 private:
  const int64_t distance_;
  std::vector<LinearAccess> contiguous_;
};

// Divides a single axis into blocks of a constant size, in a loop of `outer_kind`, and a rest.
Stmt BlockedLoop(const Axis& axis, int64_t block, ForKind outer_kind, const AskingAhead& ahead,
                 const Stmt& body) {
  const int64_t blocks = axis.extent / block;
  std::vector<Stmt> parts;
  const auto inner = [&](const Expr& begin, int64_t extent) {
    const Var lane = loop::MakeVar(axis.var.As<loop::VarNode>()->name);
    return loop::MakeBlock(
        {ahead.Emit(begin, extent),
         loop::MakeFor(lane, 0, extent, ForKind::kVectorized,
                       loop::Substitute(body, {{axis.var.get(), begin + lane}}))});
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

// Returns the stage with the axis innermost along which stores are contiguous, if the axes after it
// have too few elements for a vector.
Stage NeighborsInnermost(Stage stage, const Context& context) {
  std::vector<Var> vars;
  for (const Axis& axis : stage.axes) vars.push_back(axis.var);
  loop::Bounds bounds;
  AddBounds(stage.axes, bounds);
  loop::LinearForm store;
  if (!loop::AsLinear(FlatIndex(stage.buffer, stage.index, bounds), vars, &store)) return stage;
  int64_t behind = 1;
  for (size_t i = stage.axes.size(); i-- > 0 && behind < context.Lanes(stage.value.type().dtype);) {
    if (store.coefficients[i] == 1) {
      std::rotate(stage.axes.begin() + static_cast<std::ptrdiff_t>(i),
                  stage.axes.begin() + static_cast<std::ptrdiff_t>(i) + 1, stage.axes.end());
      break;
    }
    behind *= stage.axes[i].extent;
  }
  return stage;
}

}  // namespace

Stmt PointwiseNest(const Stage& stage, Context& context) {
  const Stage merged = NeighborsInnermost(MergeAxes(stage), context);
  const Stmt store = loop::MakeStore(merged.buffer, merged.index, merged.value);
  const bool threads = WorthThreads(Cost(stage, context.target), context.target);
  const ForKind outer = threads ? ForKind::kParallel : ForKind::kSerial;
  if (const std::optional<Stmt> tiles = TransposedNest(merged, threads, context)) return *tiles;
  if (context.description.empty()) context.description = "pointwise";
  if (merged.axes.empty()) return store;
  const PointwiseNumbers& numbers = context.target.machine->pointwise;
  const AskingAhead ahead(merged, context.target);
  const DType dtype = merged.value.type().dtype;
  const int64_t block = int64_t{context.Lanes(dtype)} * numbers.vectors_per_block;
  if (merged.axes.size() == 1) {
    return BlockedLoop(merged.axes[0], block, outer, ahead, store);
  }
  std::vector<Axis> middle(merged.axes.begin() + 1, merged.axes.end() - 1);
  const Axis& inner = merged.axes.back();
  const bool is_long = ahead.asks() && inner.extent * dtype.bytes() > numbers.max_row_bytes;
  Stmt nest = is_long ? BlockedLoop(inner, block, ForKind::kSerial, ahead, store)
                      : loop::MakeBlock({ahead.Emit(0, inner.extent),
                                         loop::MakeFor(inner.var, 0, inner.extent,
                                                       ForKind::kVectorized, store)});
  nest = Nest(middle, ForKind::kSerial, nest);
  return Nest({merged.axes.front()}, outer, nest);
}

}  // namespace kiln::schedule
