// SPDX-License-Identifier: Apache-2.0
// What the reduction of a tile asks for before it is needed; for register_tile.cc.
#ifndef KILN_COMPILER_SCHEDULE_TILE_PREFETCH_H_
#define KILN_COMPILER_SCHEDULE_TILE_PREFETCH_H_

#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

// The element of a load's buffer that it reads, or of several the first.
Expr FirstElement(const loop::Load& load);

// Elements of a column that a step of the reduction reads.
int64_t ElementsOfStep(const TiledContraction& contraction);
// Where the part of a reduction of one axis begins.
Expr BeginOfPart(const TiledContraction& contraction, const TilePlace& place);

// Prefetches the cache lines of the columns that the reduction reads later.
Stmt PrefetchColumns(const TiledContraction& contraction, const TilePlace& place);

// Asks for a part of the columns that are read behind those that several tiles share, from iteration `i` of
// `iterations` of a reduction: all iterations of all these tiles take as many cache lines, but for
// rounding.
Stmt PrefetchNextColumns(const TiledContraction& contraction, const TilePlace& place, const Expr& i,
                         int64_t iterations);

// The same for the rows behind those of a tile, which follow each other in memory.
Stmt PrefetchNextRows(const TiledContraction& contraction, const TilePlace& place, const Expr& i,
                      int64_t iterations);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_TILE_PREFETCH_H_
