// SPDX-License-Identifier: Apache-2.0
// Contractions of small integers, or of floats that may be rounded to bfloat16, by an instruction
// that adds several products at once (compiler/target/instructions.h). Padded rows are stored once,
// as the instruction reads them. If memory is short, each tile copies its own rows instead, so that
// a copy of all rows never exists.
//
// x' is a row and y' a column as the instruction reads them: x = x' - d and y = y' + c. d is 128 or
// -128 if the instruction wants the other sign, otherwise 0. The sum over k of x * y is
//
//   sum of x' * y'  +  c * sum of x  -  d * sum of y'.
//
// The last term is a constant of the column. The middle term is computed once for every row if c is
// not 0. Sums of integers wrap around, so that all orders give the same bits. Floats have neither d
// nor c: x' and y' are x and y, rounded or split into parts.
#ifndef KILN_COMPILER_SCHEDULE_DOT_PRODUCT_H_
#define KILN_COMPILER_SCHEDULE_DOT_PRODUCT_H_

#include <optional>

#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

// Source of the rows of a contraction.
enum class RowSource {
  kData,          // elements of the row factor
  kPaddedByTile,  // each tile computes the stage of RowPadding for its own rows
  kStored,        // the stage of RowPadding stores all rows (StoreRows)
};

// True if dot products could compute the contraction of a stage: it is one of integers, or of
// floats that may be rounded or split, by suitable constants.
bool MayBeDotProduct(const Stage& stage, const Contraction& contraction, const Context& context);
// Returns the plan for computing such a contraction by dot products. Returns nothing if they do not
// pay.
std::optional<DotPlan> PlanDotProduct(const Contraction& contraction, RowSource source,
                                      const Context& context);

// Sets `stored_rows` of a contraction that has `dot`, and lets the row factor load from them. They
// are the values of `padding` (ContractionFacts::RowPadding) as the instruction reads them, on the
// stack. Returns false if they do not fit on the stack.
bool StoreRows(TiledContraction& contraction, const Stage& padding, const Target& target);

// Sets everything that depends on `dot` and `tile` of a contraction: the packed columns, the
// product of a step, the initial values of the sums, and the code that prepares a tile of rows.
// `padding` is the stage of RowPadding if tiles compute it, or null. Returns the code that runs
// before all tiles, which is usually empty.
Stmt UseDotProduct(TiledContraction& contraction, const Stage* padding, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_DOT_PRODUCT_H_
