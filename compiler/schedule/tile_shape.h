// SPDX-License-Identifier: Apache-2.0
// The shape of a contraction's register tile, by an analytic model.
#ifndef KILN_COMPILER_SCHEDULE_TILE_SHAPE_H_
#define KILN_COMPILER_SCHEDULE_TILE_SHAPE_H_

#include <cstdint>
#include <string>

#include "compiler/base/dtype.h"
#include "compiler/target/target.h"

namespace kiln::schedule {

inline constexpr int64_t kCacheLineBytes = 64;

// Accumulators: outer_rows × rows × vectors, each of `lanes` columns.
struct TileShape {
  int64_t outer_rows = 1;  // of the row axis around the innermost one
  int64_t rows = 1;        // of the innermost row axis
  int64_t vectors = 1;     // of columns, per row
  int64_t lanes = 1;       // per vector

  int64_t columns() const { return vectors * lanes; }
};

// What the choice depends on: extents, and how far apart rows of the row factor are.
struct TileProblem {
  int64_t outer_rows = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t reduce = 1;            // steps of the reduction
  int64_t outer_row_stride = 0;  // bytes
  int64_t row_stride = 0;
  DType dtype;
};

// The tile that takes the fewest cycles for the whole contraction, as the model counts them:
// multiply-adds, the loads beside them, column vectors that come from the second cache, rows that
// fall into one set of the first cache, and tails.
TileShape ChooseTile(const TileProblem& problem, const Target& target);

// `8x2x16`, or `2x14x1x16` where the tile has outer rows.
std::string Text(const TileShape& tile);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_TILE_SHAPE_H_
