// SPDX-License-Identifier: Apache-2.0
// The shape of a contraction's register tile, by an analytic model.
#ifndef KILN_COMPILER_SCHEDULE_TILE_SHAPE_H_
#define KILN_COMPILER_SCHEDULE_TILE_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/dtype.h"
#include "compiler/target/target.h"

namespace kiln::schedule {

inline int64_t LineElements(DType dtype) { return kCacheLineBytes / dtype.bytes(); }

// Shape of a tile. It has outer_rows × rows × vectors accumulators, each of `lanes` columns.
struct TileShape {
  int64_t outer_rows = 1;  // rows along the axis around the innermost row axis
  int64_t rows = 1;        // rows along the innermost row axis
  int64_t vectors = 1;     // vectors of columns per row
  int64_t lanes = 1;       // columns per vector

  int64_t columns() const { return vectors * lanes; }
  friend bool operator==(const TileShape&, const TileShape&) = default;
};

// True if a column factor of `bytes` stays in the L2 cache together with rows and outputs.
inline bool KeepsColumns(int64_t bytes, const Target& target) {
  return bytes <= target.l2_bytes / 2;
}

// Inputs of the choice of a tile: extents, strides, and the cost of a step.
struct TileProblem {
  int64_t outer_rows = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t reduce = 1;            // number of steps of the reduction
  int64_t outer_row_stride = 0;  // distance of outer rows in the row factor, in bytes
  int64_t row_stride = 0;
  int64_t column_bytes = 0;   // size of the whole column factor, in bytes
  DType dtype;                // dtype of the sums
  bool keeps_rows = false;    // rows of a tile are prepared once for all columns
  int64_t lanes = 0;          // lanes of the widest vector of sums; 0: those of the target
  double step_cost = 1;       // cost of a step on one vector, in vector multiply-adds
  bool cold_columns = false;  // columns are constants; other operators evict them from caches
  bool folds_rows = true;     // an element of a row may be an operand of its multiply-add
  int64_t vector_rows = 1;    // rows in one vector of sums, whose lanes are columns times rows
  // The only possible shape of a tile that is a loop in assembly or is computed in matrix
  // registers.
  std::optional<TileShape> only = {};

  // True if the loops over blocks of columns are outside. Columns are then read once, and rows are
  // read again for each block. This is the case if the L2 cache does not keep the columns, or if
  // they are cold and larger than the rows.
  bool columns_outside(const Target& target) const;
};

// Returns the lanes of a tile's vectors: those of the target, or fewer if these hold all columns.
int64_t TileLanes(const TileProblem& problem, const Target& target);

// Returns the maximum number of accumulators of any tile. The accumulators of the model's tiles
// stay in registers. Tiles with a few more are still correct, and not much more code.
int64_t MaxAccumulators(const Target& target);

// Returns the tiles that the model compares, without duplicates, ordered by the cycles that the
// whole contraction takes. The model counts multiply-adds, other loads, column vectors that come
// from the L2 cache, rows that fall into one set of the L1 cache, and tails. The result is never
// empty.
std::vector<TileShape> RankTiles(const TileProblem& problem, const Target& target);
// Returns the time of the contraction with a tile, in vector multiply-adds.
double TileCost(const TileProblem& problem, const TileShape& tile, const Target& target);
// Returns the first tile of RankTiles.
TileShape ChooseTile(const TileProblem& problem, const Target& target);

// Returns `8x2x16`, or `2x14x1x16` if the tile has outer rows.
std::string Text(const TileShape& tile);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_TILE_SHAPE_H_
