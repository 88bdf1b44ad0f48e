// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/register_tile.h"

#include "compiler/schedule/tile_prefetch.h"
#include "compiler/target/float_units.h"

namespace kiln::schedule {
namespace {

// Distance of column prefetches: the bytes that arrive from memory during the latency of one line.
// The hardware prefetches too, but stops at the end of every page. Measured with 8 rows on Zen 5:
// 15 GB/s with 1 KiB, 38 with 4, 47 with 8.
constexpr int64_t kPanelPrefetchBytes = 8192;
// Minimum number of rows of a tile that prefetches columns. Tiles of fewer rows load far enough
// ahead of their multiply-adds anyway. Measured with prefetches: 2 rows take 1.18 times as long, 3
// rows 0.84 times.
constexpr int64_t kMinRowsOfPrefetch = 3;
// Maximum number of tiles that read the same columns and prefetch them. If more tiles read them,
// columns come from the L2 cache, which the hardware does well. Prefetches would then delay the
// next columns, which come from memory. Measured for products of weights of 2.4 MB on Sapphire
// Rapids, with such prefetches too: 2 tiles take 0.9 times as long, 4 tiles 1.0, 8 tiles 1.03.
constexpr int64_t kMaxTilesFromMemory = 2;

// Maximum number of multiply-adds in an innermost loop. The loop then fits into the cache of
// decoded instructions, together with its neighbors.
constexpr int64_t kMaxUnrolled = 112;
// The same for dots of one sum on machines where code has to be small.
constexpr int64_t kScalarDotsUnrolled = 16;
// Minimum number of steps of a reduction that leave time to fetch the data of the epilogue.
constexpr int64_t kMinStepsAhead = 32;

// True if so few tiles read the columns that memory determines the speed.
bool ReadsColumnsFromMemory(const TiledContraction& t) {
  return TotalExtent(t.c.rows) <= kMaxTilesFromMemory * t.tile.outer_rows * t.tile.rows;
}

int64_t BytesOfColumns(const TiledContraction& t) {
  return t.c.column.extent * TotalExtent(t.c.reduce) * ElementsOfStep(t) *
         FactorLoad(t.y)->buffer->dtype.bytes();
}

}  // namespace

void SetReduction(TiledContraction& t, const Target& target) {
  t.fused_multiply_add = FusesMultiplyAdd(target, t.init.type().dtype);
  const bool scalar_dots = t.dot.has_value() && t.dot->row != nullptr && t.tile.lanes == 1;
  t.max_unrolled = !target.short_of_memory ? kMaxUnrolled : scalar_dots ? kScalarDotsUnrolled : 1;
  const bool ahead = t.packed && target.has_caches &&
                     t.tile.outer_rows * t.tile.rows >= kMinRowsOfPrefetch &&
                     ReadsColumnsFromMemory(t) && BytesOfColumns(t) > target.l1_bytes / 2;
  t.prefetch_distance = ahead ? kPanelPrefetchBytes / FactorLoad(t.y)->buffer->dtype.bytes() : 0;
  t.prefetches_epilogues = target.has_caches && TotalExtent(t.c.reduce) >= kMinStepsAhead;
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
