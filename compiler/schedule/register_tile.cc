// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/register_tile.h"

#include "compiler/schedule/tile_prefetch.h"
#include "compiler/target/float_units.h"

namespace kiln::schedule {
namespace {

// True if so few tiles read the columns that memory determines the speed.
bool ReadsColumnsFromMemory(const TiledContraction& t, const Target& target) {
  return TotalExtent(t.c.rows) <=
         target.machine->prefetch.max_tiles * t.tile.outer_rows * t.tile.rows;
}

int64_t BytesOfColumns(const TiledContraction& t) {
  return t.c.column.extent * TotalExtent(t.c.reduce) * ElementsOfStep(t) *
         FactorLoad(t.y)->buffer->dtype.bytes();
}

}  // namespace

void SetReduction(TiledContraction& t, const Target& target) {
  const TileNumbers& tiles = target.machine->tiles;
  const PrefetchNumbers& prefetch = target.machine->prefetch;
  t.machine = target.machine;
  t.fused_multiply_add = FusesMultiplyAdd(target, t.init.type().dtype);
  const bool scalar_dots = t.dot.has_value() && t.dot->row != nullptr && t.tile.lanes == 1;
  t.max_unrolled = !target.short_of_memory ? tiles.max_unrolled
                   : scalar_dots           ? tiles.scalar_dots_unrolled
                                           : 1;
  const bool ahead = t.packed && target.has_caches &&
                     t.tile.outer_rows * t.tile.rows >= prefetch.min_rows &&
                     ReadsColumnsFromMemory(t, target) && BytesOfColumns(t) > target.l1_bytes / 2;
  t.prefetch_distance = ahead ? prefetch.column_bytes / FactorLoad(t.y)->buffer->dtype.bytes() : 0;
  t.prefetches_epilogues = target.has_caches && TotalExtent(t.c.reduce) >= prefetch.min_steps;
}

loop::Substitution AtRow(const TiledContraction& t, const TilePlace& place, const Expr& outer,
                         const Expr& row) {
  loop::Substitution at;
  const size_t num_rows = t.c.rows.size();
  if (num_rows >= 1) at[t.c.rows[num_rows - 1].var.get()] = place.row + row;
  // If the tile has one outer row, the outer row axis has a loop of its own.
  if (t.tile.outer_rows > 1) at[t.c.rows[num_rows - 2].var.get()] = place.outer_row + outer;
  return at;
}

}  // namespace kiln::schedule
