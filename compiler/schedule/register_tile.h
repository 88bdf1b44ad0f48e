// SPDX-License-Identifier: Apache-2.0
// The register tile of a contraction: its shape, the packed column factor, and the code of one
// tile.
#ifndef KILN_COMPILER_SCHEDULE_REGISTER_TILE_H_
#define KILN_COMPILER_SCHEDULE_REGISTER_TILE_H_

#include <vector>

#include "compiler/schedule/families.h"

namespace kiln::schedule {

struct TileShape {
  int64_t rows;     // of the innermost row axis
  int64_t vectors;  // of columns, per row
  int64_t lanes;    // per vector

  int64_t columns() const { return vectors * lanes; }
};

// As many accumulators as there are registers for, and the rows divided so that the last tile is
// not a sliver.
TileShape ChooseTile(int64_t rows, int64_t columns, DType dtype, const Target& target);

// What is computed of the finished sums, and where it is stored: in the contraction's axes. `value`
// loads the sums from the contraction's own buffer.
struct Epilogue {
  Buffer buffer;
  std::vector<Expr> index;
  Expr value;
};

// A contraction ready to be made into tiles.
struct TiledContraction {
  Contraction c = {};
  Buffer sums = nullptr;  // the contraction's own buffer, as epilogues load it
  Expr init = {};
  std::vector<Epilogue> epilogues = {};
  TileShape tile = {1, 1, 1};
  bool fused_multiply_add = false;
  // The column factor, as it is read in a tile. If it is packed, in terms of `block` and `column`
  // (in the block) instead of c.column.
  Expr y = {};
  bool packed = false;
  Var block = {}, column = {};
};

// Sets y, packed, block and column: a packed constant; the buffer itself where its columns are
// contiguous; otherwise a packed copy that is made at run time by the nest that is returned (empty
// in the other cases).
Stmt PackColumns(TiledContraction& contraction, Context& context);

// Rows [row0, row0 + rows) of the innermost row axis, and the first `columns` columns of block
// `block`.
Stmt EmitTile(const TiledContraction& contraction, const Expr& row0, int64_t rows,
              const Expr& block, int64_t columns);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_REGISTER_TILE_H_
