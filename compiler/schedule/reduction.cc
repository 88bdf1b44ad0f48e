// SPDX-License-Identifier: Apache-2.0
// Reductions. The stages of a kernel share loops over the axes that all of them walk alike (the
// rows of a softmax). Inside, one stage after another is computed ("compute at"), with small local
// buffers between them. A reduction is vectorized along the innermost space axis if the data are
// contiguous there (pooling and depthwise convolution in channels-last layout), otherwise along the
// innermost reduction axis.
#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/accumulate.h"
#include "compiler/schedule/families.h"
#include "compiler/schedule/long_windows.h"
#include "compiler/schedule/reduction_stage.h"
#include "compiler/schedule/shared_loops.h"
#include "compiler/schedule/window_tiles.h"

namespace kiln::schedule {
namespace {

// Returns all stages inside of loops over `outer`, each as `emit` returns it, with local buffers.
Stmt SharedNest(const loop::Kernel& kernel, const std::vector<Axis>& outer,
                const std::function<Stmt(const Stage&)>& emit) {
  Inner inner = MakeInner(kernel, outer);
  std::vector<Stmt> stmts;
  for (const Stage& stage : inner.stages) stmts.push_back(emit(stage));
  Stmt body = loop::MakeBlock(std::move(stmts));
  for (const Buffer& local : inner.buffers) body = loop::MakeAllocate(local, body);
  return body;
}

// Returns a separate nest for every stage, with its buffer in the workspace.
Stmt SeparateReductions(const loop::Kernel& kernel, Context& context) {
  std::vector<Stmt> stmts;
  for (const Stage& stage : kernel.stages) {
    if (stage.combine == loop::Combine::kNone) {
      stmts.push_back(StageNest(kernel, stage, context));
      continue;
    }
    if (!IsOutput(kernel, stage.buffer)) context.workspace.push_back(stage.buffer);
    stmts.push_back(ReductionNest({.name = kernel.name,
                                   .inputs = {},
                                   .outputs = {stage.buffer},
                                   .constants = {},
                                   .stages = {stage}},
                                  context));
  }
  return loop::MakeBlock(std::move(stmts));
}

// Returns `body` inside of the outer loops. With `threads`, the first loop with several iterations
// is parallel.
Stmt OuterLoops(const std::vector<Axis>& outer, bool threads, Stmt body) {
  size_t parallel = outer.size();
  for (size_t i = outer.size(); i-- > 0;) {
    if (outer[i].extent > 1) parallel = i;
  }
  for (size_t i = outer.size(); i-- > 0;) {
    body = Nest({outer[i]}, threads && i == parallel ? ForKind::kParallel : ForKind::kSerial,
                std::move(body));
  }
  return body;
}

// Returns long windows at all places, in tiles of places. `lanes` computes the lanes of one vector,
// and `count` counts the vectors.
Stmt LongWindowNest(const loop::Kernel& lanes, const LongWindowTile& tile, const Axis& count,
                    bool threads, const Target& target) {
  const std::vector<Axis>& axes = lanes.stages.back().axes;
  std::vector<Stmt> parts;
  for (const Strip& strip : Strips(axes[tile.axis].extent, tile.places, "places")) {
    std::vector<Axis> outer =
        FreshAxes({axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(tile.axis)});
    const Axis own = FreshAxis(count);
    const Stmt stages =
        SharedNest(TileOfAxis(lanes, tile.axis, strip.begin, strip.size), outer,
                   [&](const Stage& stage) { return LongWindowStage(stage, target); });
    const Stmt body = loop::Substitute(stages, {{count.var.get(), own.var}});
    outer.insert(outer.end(), {strip.which, own});
    parts.push_back(OuterLoops(outer, threads, body));
  }
  return loop::MakeBlock(std::move(parts));
}

}  // namespace

Stmt ReductionNest(const loop::Kernel& original, Context& context) {
  loop::Kernel kernel = original;
  context.description = "reduction";
  int64_t cost = 0;
  bool along_space = false;
  for (Stage& stage : kernel.stages) {
    cost += Cost(stage, context.target);
    if (stage.combine == loop::Combine::kNone) continue;
    const SumOrder order = OrderOfSums(stage, context.target);
    along_space |= order.kind != SumOrder::Kind::kLanes;
    stage = ForVectors(stage, order, context);
    if (const auto* dot = stage.value.As<loop::Dot>()) {
      absl::StrAppend(&context.description, " ", dot->kind.instruction);
    }
  }
  const bool threads = WorthThreads(cost, context.target);
  const std::vector<Axis>& axes = kernel.stages.back().axes;
  const size_t shared = SharedAxes(kernel);
  if (shared == 0 && kernel.stages.size() > 1) return SeparateReductions(kernel, context);
  const auto inner_stage = [&](const Stage& stage) { return InnerStage(stage, context); };

  if (shared == axes.size() && along_space && shared > 0) {
    const WindowTile windows = ChooseWindowTile(kernel, context.target);
    const LongWindowTile long_windows = ChooseLongWindowTile(kernel, context.target);
    const DType dtype = kernel.stages.front().value.type().dtype;
    const int64_t extent_of_axis = axes.back().extent, one_vector = context.Lanes(dtype);
    const int64_t tile = long_windows.any() ? std::min(extent_of_axis, one_vector)
                         : windows.any()    ? std::min(extent_of_axis, one_vector * windows.vectors)
                                            : ReductionTile(extent_of_axis, dtype, context.target);
    const int64_t tiles = axes.back().extent / tile;
    // Returns the loops over `count` tiles of the last axis, each of `extent` elements. `begin` is
    // the first element of a tile.
    const auto nest = [&](const Expr& begin, int64_t extent, const Axis& count) {
      std::vector<Axis> outer = FreshAxes({axes.begin(), axes.end() - 1});
      const loop::Kernel lanes = TileOfAxis(kernel, shared - 1, begin, extent);
      if (long_windows.any()) {
        for (const Stage& stage : kernel.stages) {
          if (stage.combine == loop::Combine::kNone) continue;
          NoteOrder(stage, {.fused = IsFused(stage.combine, stage.value, context.target)}, context);
        }
        return LongWindowNest(lanes, long_windows, count, threads, context.target);
      }
      const Stmt body = SharedNest(lanes, outer, inner_stage);
      if (!windows.any()) {
        outer.push_back(count);
        return OuterLoops(outer, threads, body);
      }
      const Axis place = outer.back();
      outer.pop_back();
      const Axis row = outer.back();
      std::vector<Stmt> parts;
      for (const Strip& strip : Strips(row.extent, windows.rows, "tile")) {
        outer.back() = strip.which;
        const Axis rows = {loop::MakeVar("row"), strip.size};
        const Stmt at = loop::Substitute(body, {{row.var.get(), strip.begin + rows.var}});
        parts.push_back(OuterLoops(outer, threads, TileWindows(windows, rows, place, count, at)));
      }
      return loop::MakeBlock(std::move(parts));
    };
    const Var t = loop::MakeVar("tile");
    const Stmt whole = nest(t * Expr(tile), tile, {t, tiles});
    const int64_t rest = axes.back().extent - tiles * tile;
    if (rest == 0) return whole;
    // The remainder is a separate nest, so that both nests have constant extents.
    return loop::MakeBlock({whole, nest(tiles * tile, rest, {loop::MakeVar("tile"), 1})});
  }
  const std::vector<Axis> outer =
      FreshAxes({axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(shared)});
  const int64_t max_bytes = context.target.short_of_memory
                                ? context.target.machine->stack.firmware_shared_bytes
                                : context.target.machine->stack.shared_bytes;
  if (MakeInner(kernel, outer).bytes > max_bytes) return SeparateReductions(kernel, context);
  return OuterLoops(outer, threads, SharedNest(kernel, outer, inner_stage));
}

Stmt StageNest(const loop::Kernel& kernel, const Stage& stage, Context& context) {
  if (!IsOutput(kernel, stage.buffer)) context.workspace.push_back(stage.buffer);
  return stage.combine == loop::Combine::kNone ? PointwiseNest(stage, context)
                                               : ReductionStage(stage, context);
}

}  // namespace kiln::schedule
