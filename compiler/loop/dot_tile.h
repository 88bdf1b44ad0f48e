// SPDX-License-Identifier: Apache-2.0
// A tile of sums, rows by columns, and all steps of their reduction in one statement: a store of a
// dot of several steps back to the sums that it adds to.
//
//   acc[ramp(0, 1, 4)] = dot<smlad, 4, swaps, steps 36, run 2>(acc[ramp(0, 1, 4)], rows[ramp(…)],
//                                                              columns[ramp(…)])
//
// Code generators print it as one loop (DotLoop), whose registers no compiler has to find, or by
// registers that hold matrices:
//
//   acc[ramp(0, 1, 1024)] = dot<tdpbssd, 64, steps 9, column_run 4>(acc[ramp(0, 1, 1024)],
//                               rows[ramp(0, 1, 18432)], columns[ramp(0, 1, 18432)])
//
// Rows may
// overlap, each `slide` elements behind the one before. Of such rows there may be several dots, one
// the sum of the next, whose factors lie equally far apart, as the rows of a window do:
//
//   acc[ramp(0, 1, 2)] = dot<smlad_taps, 3, run 1>(
//       acc[ramp(0, 1, 2)], interleave(row[ramp(i, 1, 3)], row[ramp(i + 1, 1, 3)]), taps[ramp(…)])
#ifndef KILN_COMPILER_LOOP_DOT_TILE_H_
#define KILN_COMPILER_LOOP_DOT_TILE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::loop {

struct DotTile {
  DotKind kind;
  DotShape shape;
  Argument sums, a, b;  // the first element of each
  int slide = 0;        // 0: rows do not overlap
  // Dots one after the other, and elements from the factors of one to those of the next.
  struct Chain {
    int length = 1;
    Expr a_step = 0;
    int64_t b_step = 0;
  };
  Chain chain = {};
  // Tiles one after the other that add to the same sums, each with the steps behind those of the one
  // before.
  Expr repeats = 1;
  // Prefetches before each of them, in terms of a variable that counts them.
  Var repeat = {};
  std::vector<Stmt> prefetches = {};

  // From the rows of a dot to those of the next; 0 where that is no number.
  int64_t row_elements() const;
  // Steps that an iteration of a tile's loop in assembly has: a divisor of all of them.
  static int StepsOfIteration(int steps);
};

// Where the sums of a store of a dot, of one lane or several side by side, begin, if they are stored
// to where they were loaded; nothing otherwise.
std::optional<Argument> SumsInPlace(const Store& store);

// Nothing if the store is of another kind, or not flat.
std::optional<DotTile> AsDotTile(const Store& store);
// The tile of a serial loop over parts of its steps, as RollDotTiles makes it, with prefetches before it
// where registers hold matrices; nothing if it is another loop.
std::optional<DotTile> AsDotTile(const For& loop);

// The statement with each tile whose rows are apart as a loop over tiles of StepsOfIteration steps:
// tiles of other numbers of steps are then alike but for the extent of a loop.
//
//   for part in 0..9 {
//     acc[ramp(0, 1, 4)] = dot<smlad, 4, swaps, steps 4, run 2>(acc[ramp(0, 1, 4)],
//                                rows[ramp(part * 32, 1, 32)], columns[ramp(part * 32, 1, 32)])
//   }
Stmt RollDotTiles(const Stmt& s);

// What a tile whose rows do not overlap does, in plain loops over its rows, columns and steps.
Stmt WrittenOut(const DotTile& tile);

// `sums` are rows × columns, row by row. Of kind.steps steps, each with the groups of all rows and
// those of all columns side by side.
Stmt MakeDotTile(const DotKind& kind, int rows, int columns, const Argument& sums,
                 const Argument& a, const Argument& b);
// `sums` are one of each row, in one step of one column. Rows overlap.
Stmt MakeSlidingTile(const DotKind& kind, int rows, int slide, const DotTile::Chain& chain,
                     const Argument& sums, const Argument& a, const Argument& b);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_DOT_TILE_H_
