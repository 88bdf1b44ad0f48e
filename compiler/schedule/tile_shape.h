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

// Accumulators: outer_rows × rows × vectors, each of `lanes` columns.
struct TileShape {
  int64_t outer_rows = 1;  // of the row axis around the innermost one
  int64_t rows = 1;        // of the innermost row axis
  int64_t vectors = 1;     // of columns, per row
  int64_t lanes = 1;       // per vector

  int64_t columns() const { return vectors * lanes; }
  friend bool operator==(const TileShape&, const TileShape&) = default;
};

// Whether a column factor of so many bytes stays in the L2 cache beside rows and outputs.
inline bool KeepsColumns(int64_t bytes, const Target& target) {
  return bytes <= target.l2_bytes / 2;
}

// Accumulators of one sum each, of which some are rows.
inline constexpr int64_t kScalarTile = 4, kScalarTileRows = 2;

// What the choice depends on: extents, and how far apart rows of the row factor are.
struct TileProblem {
  int64_t outer_rows = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t reduce = 1;            // steps of the reduction
  int64_t outer_row_stride = 0;  // bytes
  int64_t row_stride = 0;
  int64_t column_bytes = 0;   // of the whole column factor
  DType dtype;                // of the sums
  bool keeps_rows = false;    // something is done for a tile's rows before they meet all columns
  int64_t lanes = 0;          // of the widest vector of sums; 0: as the target has of `dtype`
  double step_cost = 1;       // of one step on one vector, in vector multiply-adds
  bool cold_columns = false;  // constants, which those of other operators push out of the caches
  bool folds_rows = true;     // an element of a row may be an operand of its multiply-add
  int64_t vector_rows = 1;    // of one vector of sums, whose lanes are columns times rows
  // The one shape that a tile may have, where its loop is written in assembly.
  std::optional<TileShape> only = {};

  // Whether loops over blocks of columns are outside, so that columns are read once and rows again
  // for every block: where the L2 cache does not keep columns, or they are cold and more than rows.
  bool columns_outside(const Target& target) const;
};

// The lanes of a tile's vectors: those of the target, or fewer where that holds all columns.
int64_t TileLanes(const TileProblem& problem, const Target& target);

// How many accumulators any tile may have. Those that the model takes stay in registers; a few more
// still are right, and not much code.
int64_t MaxAccumulators(const Target& target);

// The tiles that the model compares, none twice, those first that take the fewest cycles for the
// whole contraction: multiply-adds, the loads beside them, column vectors that come from the second
// cache, rows that fall into one set of the L1 cache, and tails. Never empty.
std::vector<TileShape> RankTiles(const TileProblem& problem, const Target& target);
// How long the contraction takes with a tile, in vector multiply-adds.
double TileCost(const TileProblem& problem, const TileShape& tile, const Target& target);
// The first of them.
TileShape ChooseTile(const TileProblem& problem, const Target& target);

// `8x2x16`, or `2x14x1x16` where the tile has outer rows.
std::string Text(const TileShape& tile);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_TILE_SHAPE_H_
