// SPDX-License-Identifier: Apache-2.0
// Contractions of small integers, or of floats that may be rounded to bfloat16, by an instruction that
// adds several products at once (compiler/target/instructions.h). Rows that are padded are stored once as the instruction reads
// them, or, where memory is short, copied by the tile, never all of them.
//
// With x = x' - d, where x' is what the instruction reads of rows (d = 128 or -128 where it wants
// the other sign), and y = y' + c, where y' is what it reads of columns, the sum over k of x * y is
//
//   sum of x' * y'  +  c * sum of x  -  d * sum of y'
//
// The last term is a constant of the column; the middle one, where c is not 0, is computed once for
// every row. Sums of integers wrap around, so that all orders give the same bits. Floats have no d and
// no c: x' and y' are x and y rounded.
#ifndef KILN_COMPILER_SCHEDULE_DOT_PRODUCT_H_
#define KILN_COMPILER_SCHEDULE_DOT_PRODUCT_H_

#include <optional>

#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

// Where the rows of a contraction come from.
enum class RowSource {
  kData,          // they are elements of the row factor
  kPaddedByTile,  // each tile computes the stage of FindRowPadding for its own rows
  kStored,        // that stage stores all rows as the instruction reads them (StoreRows)
};

// How stages[which] of a kernel is computed by dot products; nothing if it is no contraction of
// integers, or of floats that may be rounded, by suitable constants, or has no use of it.
std::optional<DotPlan> PlanDotProduct(const loop::Kernel& kernel, size_t which, RowSource source,
                                      const Context& context);
// The same, of a contraction whose axes are merged.
std::optional<DotPlan> PlanDotProduct(const Contraction& contraction, RowSource source,
                                      const Context& context);

// The stage before stages[which] that makes nothing but padding around its row factor, so that each
// tile may compute it for its own rows; nothing if there is none.
std::optional<size_t> FindRowPadding(const loop::Kernel& kernel, size_t which);

// Sets `stored_rows` of a contraction that has `dot`, and lets it read them: the stage of
// FindRowPadding with elements as the instruction reads them, on the stack. False if they are too
// many for that.
bool StoreRows(TiledContraction& contraction, const Stage& padding, const Target& target);

// Sets all of a contraction that has `dot` and `tile` which depends on them: the packed columns,
// the product of a step, the first values of the sums, and what is done before a tile of rows.
// `padding` is the stage of FindRowPadding if tiles compute it, or null. Returns what is done before
// all tiles, which is mostly nothing.
Stmt UseDotProduct(TiledContraction& contraction, const Stage* padding, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_DOT_PRODUCT_H_
