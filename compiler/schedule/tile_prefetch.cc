// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/tile_prefetch.h"

#include <numeric>
#include <utility>

#include "compiler/base/align.h"

namespace kiln::schedule {
namespace {

Expr FirstLane(const Expr& index) {
  if (const auto* ramp = index.As<loop::Ramp>()) return ramp->base;
  const auto* broadcast = index.As<loop::Broadcast>();
  return broadcast == nullptr ? index : broadcast->a;
}

// The lines that one iteration prefetches. All lines are prefetched, evenly over the iterations: a
// core can wait for few lines from memory at once, and they delay lines from the L2 cache.
struct Share {
  Expr first;
  int64_t count;
};
Share ShareOf(const Expr& i, int64_t iterations, int64_t lines) {
  const int64_t divisor = std::gcd(lines, iterations);
  return {i * Expr(lines / divisor) / Expr(iterations / divisor), DivideUp(lines, iterations)};
}

// Returns the position of the line that is prefetched as number `which` of `lines`.
Expr LineInTurn(const Expr& which, int64_t lines, int64_t max_places) {
  const int64_t places = std::gcd(lines, max_places);
  return which % Expr(places) * Expr(lines / places) + which / Expr(places);
}

}  // namespace

Expr FirstElement(const loop::Load& load) {
  std::vector<Expr> index;
  for (const Expr& i : load.index) index.push_back(FirstLane(i));
  return FlatIndex(load.buffer, index, {});
}

int64_t ElementsOfStep(const TiledContraction& t) {
  return t.dot.has_value() ? t.dot->StepElements(1) : 1;
}

Expr BeginOfPart(const TiledContraction& t, const TilePlace& place) {
  return place.part * Expr(t.c.reduce.front().extent / t.plan.parts);
}

Stmt PrefetchColumns(const TiledContraction& t, const TilePlace& place) {
  if (t.plan.columns_ahead == 0) return {};
  const loop::Load& load = *FactorLoad(t.y);
  const int64_t line = LineElements(load.buffer->dtype) / ElementsOfStep(t);
  std::vector<Stmt> stmts;
  for (int64_t column = 0; column < place.columns; column += line) {
    const Expr at = loop::Substitute(
        FirstElement(load), {{t.block.get(), place.block}, {t.column.get(), Expr(column)}});
    stmts.push_back(loop::MakePrefetch(load.buffer, at + Expr(t.plan.columns_ahead)));
  }
  return loop::MakeBlock(std::move(stmts));
}

Stmt PrefetchNextColumns(const TiledContraction& t, const TilePlace& place, const Expr& i,
                         int64_t iterations) {
  if (!t.shared_columns.has_value()) return {};
  const auto [elements, passes, ahead] = *t.shared_columns;
  const loop::Load& load = *FactorLoad(t.y);
  loop::Substitution at = {{t.block.get(), place.block}, {t.column.get(), Expr(0)}};
  for (const Axis& axis : t.c.reduce) at[axis.var.get()] = Expr(0);
  if (t.plan.parts > 1) at[t.c.reduce.front().var.get()] = BeginOfPart(t, place);
  const int64_t line = LineElements(load.buffer->dtype);
  const int64_t lines = DivideUp(elements, line);
  const Share share = ShareOf(place.pass * Expr(iterations) + i, passes * iterations, lines);
  const Expr next = loop::Substitute(FirstElement(load), at) + Expr(ahead);
  std::vector<Stmt> stmts;
  for (int64_t l = 0; l < share.count; ++l) {
    const Expr at_line = LineInTurn(share.first + Expr(l), lines, t.machine->prefetch.places);
    stmts.push_back(loop::MakePrefetch(load.buffer, next + at_line * Expr(line), 2));
  }
  return loop::MakeBlock(std::move(stmts));
}

Stmt PrefetchNextRows(const TiledContraction& t, const TilePlace& place, const Expr& i,
                      int64_t iterations) {
  if (t.blocks_per_row_tile == 0) return {};
  const loop::Load& load = *FactorLoad(t.c.x);
  const int64_t line = LineElements(load.buffer->dtype);
  const int64_t row_lines = DivideUp(t.c.reduce.back().extent, line);
  const int64_t lines = DivideUp(t.plan.tile.rows * row_lines, t.blocks_per_row_tile * iterations);
  if (lines > t.machine->prefetch.row_lines) return {};
  std::vector<Stmt> stmts;
  for (int64_t l = 0; l < lines; ++l) {
    const Expr which = (place.block * Expr(iterations) + i) * Expr(lines) + Expr(l);
    const loop::Substitution at = {
        {t.c.rows.back().var.get(),
         place.row + Expr(t.plan.tile.rows) + (row_lines == 1 ? which : which / Expr(row_lines))},
        {t.c.reduce.back().var.get(),
         row_lines == 1 ? Expr(0) : which % Expr(row_lines) * Expr(line)}};
    stmts.push_back(loop::MakePrefetch(
        load.buffer, loop::Substitute(FlatIndex(load.buffer, load.index, {}), at), 2));
  }
  return loop::MakeBlock(std::move(stmts));
}

}  // namespace kiln::schedule
