// SPDX-License-Identifier: Apache-2.0
// Contractions in registers that hold matrices (DotGeometry::kMatrix); for dot_product.cc. A tile
// has up to two by two such registers of sums. Its rows are copied in the order in which the
// registers are loaded: for each step of the reduction, all rows one after another.
#ifndef KILN_COMPILER_SCHEDULE_MATRICES_H_
#define KILN_COMPILER_SCHEDULE_MATRICES_H_

#include "compiler/schedule/dot_parts.h"
#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

// Returns the tile of a contraction. Short rows of a picture share a tile.
TileShape TileOfMatrices(const Contraction& c, const Target& target);

// True if matrices pay. Rows must be copied in long pieces. The computations on padding, at the
// ends of rows, columns and reduction, and the other costs of tiles must not outweigh the gain.
bool PaysMatrices(const DotInstruction& row, const Contraction& c, int64_t factor_parts,
                  const Target& target);

// True if all rows may be copied before any tile is computed.
bool MayStoreMatrices(const Contraction& c, bool padded);
// Sets rows_per_block and reduction_parts of a plan if it pays to copy all rows first. It pays if
// there are more columns than rows, or if the L2 cache does not keep the columns: they are then
// read from memory once.
void DivideMatrices(DotPlan& plan, const Contraction& c, bool padded, const Target& target);

// Sets the factors of a step of a contraction that has `dot` and `tile`, and its init if rows have
// to be summed. `value` is an element of a row. Returns the code that runs before all tiles.
Stmt UseMatrices(TiledContraction& contraction, const Expr& value, const Buffer& columns,
                 Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_MATRICES_H_
