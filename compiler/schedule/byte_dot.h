// SPDX-License-Identifier: Apache-2.0
// Contractions of bytes, where one instruction adds four products of unsigned by signed bytes to
// each lane of int32 (Target::has_byte_dot), or where memory is short and rows that are padded are
// copied by the tile, never all of them.
//
// With x = x' - d, where x' is unsigned (d = 128 for signed rows, if the instruction wants it so),
// and y = y' + c, where y' is signed, the sum over k of x * y is
//
//   sum of x' * y'  +  c * sum of x  -  d * sum of y'
//
// The last term is a constant of the column; the middle one, where c is not 0, is computed once for
// every row. Sums of integers wrap around, so that all orders give the same bits.
#ifndef KILN_COMPILER_SCHEDULE_BYTE_DOT_H_
#define KILN_COMPILER_SCHEDULE_BYTE_DOT_H_

#include <optional>

#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

// Whether stages[which] is a contraction of bytes by constants of a range of 256, and it is of use
// to compute it so.
bool SuitsByteDot(const loop::Kernel& kernel, size_t which, const Context& context);

// The stage before stages[which] that makes nothing but padding around its row factor, so that each
// tile may compute it for its own rows; nothing if there is none.
std::optional<size_t> FindRowPadding(const loop::Kernel& kernel, size_t which);

// What the instruction needs of a contraction that SuitsByteDot. `padded`: the stage of
// FindRowPadding is computed with the tiles.
ByteDot MakeByteDot(const Contraction& contraction, bool padded, const Context& context);

// Sets all of a contraction that has `dot` and `tile` which depends on them: the packed columns,
// the products of a step, the first values of the sums, and what is done before a tile of rows.
// `padding` is the stage of FindRowPadding, or null.
void UseByteDot(TiledContraction& contraction, const Stage* padding, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_BYTE_DOT_H_
