// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/long_windows.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/accumulate.h"
#include "compiler/schedule/window_tiles.h"

namespace kiln::schedule {
namespace {

// Returns the position of the last axis with several elements. Some axes at the end are not
// considered. If there is none, returns the last axis that is considered.
size_t LastOf(const std::vector<Axis>& axes, size_t behind) {
  for (size_t i = axes.size() - behind; i-- > 0;) {
    if (axes[i].extent > 1) return i;
  }
  return axes.size() - behind - 1;
}

bool Reduces(const Stage& stage) { return stage.combine != loop::Combine::kNone; }

// True if an index of a load depends on both axes, so that places share elements.
bool Overlaps(const Stage& stage, const Axis& place, const Axis& tap) {
  bool overlaps = false;
  loop::VisitExpr(stage.value, [&](const Expr& e) {
    const auto* load = e.As<loop::Load>();
    if (load == nullptr) return;
    for (const Expr& index : load->index) {
      overlaps |= loop::Uses(index, place.var) && loop::Uses(index, tap.var);
    }
  });
  return overlaps;
}

// Emits the stage's sums at all places. For each part of the windows, one tap after another is
// added to the sums of all places.
Stmt Sums(const Stage& stage, const Target& target) {
  const Axis &place = stage.axes.front(), &lanes = stage.axes.back();
  const ForKind kind = LaneLoop(lanes.extent, stage.value.type().dtype, target);
  const auto at = [&](const Expr& e, int64_t p, const Expr& lane) {
    loop::Substitution where = {{place.var.get(), Expr(p)}, {lanes.var.get(), lane}};
    for (size_t i = 1; i + 1 < stage.axes.size(); ++i) where[stage.axes[i].var.get()] = Expr(0);
    return loop::Substitute(e, where);
  };
  std::vector<Axis> around = stage.reduce;
  const size_t along = LastOf(around, 0);
  const Axis tap = around[along];
  around.erase(around.begin() + static_cast<std::ptrdiff_t>(along));
  std::vector<Buffer> sums;
  std::vector<Stmt> stmts, parts;
  for (int64_t p = 0; p < place.extent; ++p) {
    sums.push_back(LocalBuffer(stage, "_acc", {lanes.extent}));
    stmts.push_back(Fill(sums.back(), lanes.extent, kind, stage.init));
  }
  for (const Strip& strip : Strips(tap.extent, target.machine->windows.long_taps, "taps")) {
    std::vector<Stmt> adds;
    for (int64_t t = 0; t < strip.size; ++t) {
      const Expr term = loop::Substitute(stage.value, {{tap.var.get(), strip.begin + Expr(t)}});
      for (int64_t p = 0; p < place.extent; ++p) {
        adds.push_back(Accumulate(sums[static_cast<size_t>(p)], lanes.extent, kind, stage.combine,
                                  target, [&](const Expr& lane) { return at(term, p, lane); }));
      }
    }
    parts.push_back(Nest({strip.which}, ForKind::kSerial, loop::MakeBlock(std::move(adds))));
  }
  stmts.push_back(Nest(around, ForKind::kSerial, loop::MakeBlock(std::move(parts))));
  for (int64_t p = 0; p < place.extent; ++p) {
    const Var lane = loop::MakeVar("lane");
    std::vector<Expr> index;
    for (const Expr& i : stage.index) index.push_back(at(i, p, lane));
    const Expr sum = loop::MakeLoad(sums[static_cast<size_t>(p)], {lane});
    stmts.push_back(
        loop::MakeFor(lane, 0, lanes.extent, kind, loop::MakeStore(stage.buffer, index, sum)));
  }
  Stmt body = loop::MakeBlock(std::move(stmts));
  for (const Buffer& sum : sums) body = loop::MakeAllocate(sum, body);
  return body;
}

}  // namespace

LongWindowTile ChooseLongWindowTile(const loop::Kernel& kernel, const Target& target) {
  const std::vector<Axis>& axes = kernel.stages.back().axes;
  if (target.vector_registers < target.machine->windows.many_registers || target.short_of_memory ||
      axes.size() < 2) {
    return {};
  }
  const size_t place = LastOf(axes, 1);
  int windows = 0;
  for (const Stage& stage : kernel.stages) {
    if (!stage.value.type().dtype.is_float() || stage.axes.size() != axes.size()) return {};
    if (!Reduces(stage)) continue;
    ++windows;
    if (TotalExtent(stage.reduce) <= target.machine->windows.max_terms ||
        !Overlaps(stage, stage.axes[place], stage.reduce[LastOf(stage.reduce, 0)])) {
      return {};
    }
  }
  const int64_t extent = axes[place].extent;
  if (windows != 1 || extent < 2) return {};
  return {place, DivideUp(extent, DivideUp(extent, target.machine->windows.long_places))};
}

Stmt LongWindowStage(const Stage& stage, const Target& target) {
  if (Reduces(stage)) return Sums(stage, target);
  const Stmt store = loop::MakeStore(stage.buffer, stage.index, stage.value);
  const Stmt vector =
      Nest({stage.axes.back()},
           LaneLoop(stage.axes.back().extent, stage.value.type().dtype, target), store);
  return Nest({stage.axes.begin(), stage.axes.end() - 1}, ForKind::kUnrolled, vector);
}

}  // namespace kiln::schedule
