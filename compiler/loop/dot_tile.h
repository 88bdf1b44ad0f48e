// SPDX-License-Identifier: Apache-2.0
// A register tile of sums, rows × columns, and all steps of their reduction in one statement: a
// store of a dot with several steps that writes the sums back to where they were loaded.
//
//   acc[ramp(0, 1, 4)] = dot<smlad, 4, swaps, steps 36, run 2>(acc[ramp(0, 1, 4)], rows[ramp(…)],
//                                                              columns[ramp(…)])
//
// Code generators print it as one loop whose registers are already assigned (DotLoop), or with
// registers that hold matrices:
//
//   acc[ramp(0, 1, 1024)] = dot<tdpbssd, 64, steps 9, column_run 4>(acc[ramp(0, 1, 1024)],
//                               rows[ramp(0, 1, 18432)], columns[ramp(0, 1, 18432)])
//
// Rows may overlap: each starts `slide` elements after the previous one. A statement may then have
// several dots, each the sum operand of the next. The distances between the factors of neighboring
// dots are equal, as they are for the rows of a convolution window:
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
  // Consecutive dots, and the distance in elements from the factors of one to those of the next.
  struct Chain {
    int length = 1;
    Expr a_step = 0;
    int64_t b_step = 0;
  };
  Chain chain = {};
  // Number of consecutive tiles that add to the same sums. The steps of each follow those of the
  // previous tile in memory.
  Expr repeats = 1;
  // Prefetches before each of these tiles, in terms of the variable `repeat`, which counts the
  // tiles.
  Var repeat = {};
  std::vector<Stmt> prefetches = {};

  // Elements from the rows of a dot to the rows of the next one; 0 if `chain.a_step` is not a
  // constant.
  int64_t row_elements() const;
  // Steps in one iteration of a tile's loop in assembly: the largest divisor of `steps` up to 4.
  static int StepsOfIteration(int steps);
};

// Returns the first element of the sums of a store of a dot if the store writes contiguous lanes
// back to where they were loaded. Returns nothing otherwise, also if the dot has one lane.
std::optional<Argument> SumsInPlace(const Store& store);

// Returns nothing if the store is not a tile or not flat.
std::optional<DotTile> AsDotTile(const Store& store);
// Returns the tile of a serial loop over parts of its steps, as RollDotTiles makes it. If registers
// hold matrices, the loop may have prefetches before the tile. Returns nothing for other loops.
std::optional<DotTile> AsDotTile(const For& loop);

// Replaces each tile whose rows do not overlap by a loop over tiles of StepsOfIteration steps.
// Tiles with different numbers of steps then differ only in the extent of a loop.
//
//   for part in 0..9 {
//     acc[ramp(0, 1, 4)] = dot<smlad, 4, swaps, steps 4, run 2>(acc[ramp(0, 1, 4)],
//                                rows[ramp(part * 32, 1, 32)], columns[ramp(part * 32, 1, 32)])
//   }
Stmt RollDotTiles(const Stmt& s);

// Returns the computation of a tile whose rows do not overlap as plain loops over its rows, columns
// and steps.
Stmt WrittenOut(const DotTile& tile);

// Makes a tile of kind.steps steps. `sums` are rows × columns, in row-major order. The groups of
// all rows of one step are contiguous in `a`, and those of all columns in `b`.
Stmt MakeDotTile(const DotKind& kind, int rows, int columns, const Argument& sums,
                 const Argument& a, const Argument& b);
// Makes a tile of overlapping rows with one column and one step. `sums` has one element for each
// row.
Stmt MakeSlidingTile(const DotKind& kind, int rows, int slide, const DotTile::Chain& chain,
                     const Argument& sums, const Argument& a, const Argument& b);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_DOT_TILE_H_
