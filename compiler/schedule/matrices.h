// SPDX-License-Identifier: Apache-2.0
// Contractions in registers that hold matrices (DotGeometry::kMatrix); for dot_product.cc. A tile is two by
// two such registers of sums, or fewer; its rows are copied as the registers are loaded: of each step of the
// reduction all rows, one behind the other.
#ifndef KILN_COMPILER_SCHEDULE_MATRICES_H_
#define KILN_COMPILER_SCHEDULE_MATRICES_H_

#include "compiler/schedule/dot_parts.h"
#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

// The tile of a contraction. Rows of a picture that are short share one.
TileShape TileOfMatrices(const Contraction& c);

// Whether matrices pay: rows are copied in long pieces, and what is computed for nothing, at the ends of
// rows, columns and reduction, and what tiles cost besides, does not outweigh.
bool PaysMatrices(const DotInstruction& row, const Contraction& c, int64_t factor_parts,
                  const Target& target);

// Whether all rows may be copied before any tile is computed.
bool MayStoreMatrices(const Contraction& c, bool padded);
// Sets rows_per_block of a plan, where it pays, and reduction_parts. It does where columns are more than
// rows, or do not stay in the L2 cache, so that they are read from memory once.
void DivideMatrices(DotPlan& plan, const Contraction& c, bool padded, const Target& target);

// How many times as fast as vectors they are where WorthThreads weighs the work of a contraction.
inline constexpr int64_t kMatrixSpeedup = 8;

// Sets the factors of a contraction that has `dot` and `tile`, which are those of a step, and its init
// where rows have to be summed. `value` is an element of a row. Returns what is done before all tiles.
Stmt UseMatrices(TiledContraction& contraction, const Expr& value, const Buffer& columns,
                 Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_MATRICES_H_
