// SPDX-License-Identifier: Apache-2.0
// Prefetches during the reduction of a tile; for register_tile.cc.
#ifndef KILN_COMPILER_SCHEDULE_TILE_PREFETCH_H_
#define KILN_COMPILER_SCHEDULE_TILE_PREFETCH_H_

#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

// Returns the index of the element of its buffer that a load reads, or of the first of several.
Expr FirstElement(const loop::Load& load);

// Returns the number of elements of a column that a step of the reduction reads.
int64_t ElementsOfStep(const TiledContraction& contraction);
// Returns the first step of a part of a reduction, which has one axis.
Expr BeginOfPart(const TiledContraction& contraction, const TilePlace& place);

// Prefetches the cache lines of columns that the reduction reads later.
Stmt PrefetchColumns(const TiledContraction& contraction, const TilePlace& place);

// Prefetches a share of the columns that are read after the columns shared by several tiles, in
// iteration `i` of `iterations` of a reduction. All iterations of all these tiles prefetch the same
// number of cache lines, except for rounding.
Stmt PrefetchNextColumns(const TiledContraction& contraction, const TilePlace& place, const Expr& i,
                         int64_t iterations);

// The same for the rows after those of a tile, which follow each other in memory.
Stmt PrefetchNextRows(const TiledContraction& contraction, const TilePlace& place, const Expr& i,
                      int64_t iterations);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_TILE_PREFETCH_H_
