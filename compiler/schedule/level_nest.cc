// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/level_nest.h"

#include <string>
#include <utility>

namespace kiln::schedule {
namespace {

// Sets the values that the first part of a reduction adds to.
Stmt ClearPartialSums(const TiledContraction& t) {
  const Var v = loop::MakeVar("v"), lane = loop::MakeVar("lane");
  return Nest({{v, t.partial_sums->num_elements() / t.plan.tile.lanes}}, ForKind::kSerial,
              Nest({{lane, t.plan.tile.lanes}}, ForKind::kVectorized,
                   loop::MakeStore(t.partial_sums, {v * Expr(t.plan.tile.lanes) + lane}, t.init)));
}

}  // namespace

Level TileLevel(Level::Kind kind, absl::string_view name, int64_t extent, int64_t tile) {
  return {.kind = kind,
          .var = loop::MakeVar(std::string(name)),
          .count = DivideUp(extent, tile),
          .tile = tile,
          .rest = extent % tile};
}

Stmt LevelNest::Emit(size_t first, size_t end) {
  first_fused_ = first;
  end_fused_ = end;
  return Serial(0);
}

Stmt LevelNest::Parallel() {
  int64_t total = 1;
  for (size_t i = first_fused_; i < end_fused_; ++i) total *= levels_[i].count;
  const Var task = loop::MakeVar("task");
  return loop::MakeFor(task, 0, total, ForKind::kParallel, Fused(first_fused_, task, total));
}

Stmt LevelNest::Inside(size_t i, const Expr& at, bool last, const std::function<Stmt()>& inner) {
  const Level& level = levels_[i];
  const int64_t extent = last ? level.rest : level.tile;
  const Expr pass = place_.pass;
  place_.pass = level.changes_columns() ? Expr(0) : pass * Expr(level.count) + at;
  if (level.kind == Level::Kind::kOuterRowTiles) {
    place_.outer_row = at * Expr(level.tile);
    place_.outer_rows = extent;
  } else if (level.kind == Level::Kind::kRowBlocks) {
    place_.first_row = at * Expr(level.tile);
    Level& tiles = levels_.back();
    tiles = TileLevel(tiles.kind, "row_tile", extent, tiles.tile);
  } else if (level.kind == Level::Kind::kRowTiles) {
    place_.row = place_.first_row + at * Expr(level.tile);
    place_.rows = extent;
  } else if (level.kind == Level::Kind::kColumnBlocks) {
    place_.block = at;
    place_.columns = extent;
  } else if (level.kind == Level::Kind::kParts) {
    place_.part = at;
    place_.last_part = last;
  }
  Stmt body = inner();
  place_.pass = pass;
  if (level.kind == Level::Kind::kAxis) {
    body = loop::Substitute(body, {{level.var.get(), at}});
  }
  return body;
}

Stmt LevelNest::WithRows(size_t i, const std::function<Stmt()>& loop) {
  if (levels_[i].kind != Level::Kind::kColumnBlocks || !t_.before_rows) return loop();
  const Stmt before = t_.before_rows(place_);
  Stmt all = loop::MakeBlock({before, loop()});
  for (const Buffer& buffer : t_.row_buffers) all = loop::MakeAllocate(buffer, all);
  return all;
}

Stmt LevelNest::Serial(size_t i) {
  if (i == levels_.size()) return EmitTile(t_, place_);
  if (i == first_fused_ && end_fused_ > i) return Parallel();
  if (levels_[i].kind == Level::Kind::kParts) {
    const Stmt parts = loop::MakeBlock({ClearPartialSums(t_), SerialLoop(i)});
    const bool is_local = t_.partial_sums->scope == loop::BufferScope::kLocal;
    return is_local ? loop::MakeAllocate(t_.partial_sums, parts) : parts;
  }
  return WithRows(i, [&] { return SerialLoop(i); });
}

Stmt LevelNest::SerialLoop(size_t i) {
  const Level& level = levels_[i];
  const int64_t whole = level.rest > 0 ? level.count - 1 : level.count;
  const auto inner = [&] { return Serial(i + 1); };
  std::vector<Stmt> parts;
  if (whole > 0) {
    const Var v = loop::MakeVar(level.var.As<loop::VarNode>()->name);
    parts.push_back(Nest({{v, whole}}, ForKind::kSerial, Inside(i, v, false, inner)));
  }
  if (level.rest > 0) parts.push_back(Inside(i, Expr(whole), true, inner));
  return loop::MakeBlock(std::move(parts));
}

Stmt LevelNest::Fused(size_t i, const Expr& task, int64_t total) {
  if (i == end_fused_) return Serial(i);
  return WithRows(i, [&] { return FusedLoop(i, task, total); });
}

Stmt LevelNest::FusedLoop(size_t i, const Expr& task, int64_t total) {
  const Level& level = levels_[i];
  const int64_t inner_total = total / level.count;
  const Expr at = inner_total == 1 ? task : task / Expr(inner_total);
  const Expr rest_of_task = inner_total == 1 ? Expr(0) : task % Expr(inner_total);
  const auto inner = [&] { return Fused(i + 1, rest_of_task, inner_total); };
  if (level.rest == 0) return Inside(i, at, false, inner);
  const Expr whole = level.count - 1;
  if (level.count == 1) return Inside(i, whole, true, inner);
  const Stmt full = Inside(i, at, false, inner);
  return loop::MakeIf(at < whole, full, Inside(i, whole, true, inner));
}

}  // namespace kiln::schedule
