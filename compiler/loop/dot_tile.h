// SPDX-License-Identifier: Apache-2.0
// A tile of sums, rows by columns, and all steps of their reduction in one statement: a store of a
// dot of several steps back to the sums that it adds to.
//
//   acc[ramp(0, 1, 4)] = dot<smlad, 4, swaps, steps 36, run 2>(acc[ramp(0, 1, 4)], rows[ramp(…)],
//                                                              columns[ramp(…)])
//
// Code generators print it as one loop (DotLoop), whose registers no compiler has to find.
#ifndef KILN_COMPILER_LOOP_DOT_TILE_H_
#define KILN_COMPILER_LOOP_DOT_TILE_H_

#include <cstdint>
#include <optional>

#include "compiler/loop/loop.h"

namespace kiln::loop {

struct DotTile {
  DotKind kind;
  DotShape shape;
  Argument sums, a, b;  // the first element of each
};

// Nothing if the store is of another kind, or not flat.
std::optional<DotTile> AsDotTile(const Store& store);

// `sums` are rows × columns, row by row. Of kind.steps steps, each with the groups of all rows and
// those of all columns side by side.
Stmt MakeDotTile(const DotKind& kind, int rows, int columns, const Argument& sums,
                 const Argument& a, const Argument& b);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_DOT_TILE_H_
