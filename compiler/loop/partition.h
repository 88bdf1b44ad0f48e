// SPDX-License-Identifier: Apache-2.0
// How often the code of a loop is repeated: passes as those of passes.h, with their limits, and the
// loops of which code generators make something else.
//
//   const Stmt small = PartitionLoops(s, {.narrow_below = PartitionLimits::kAlways});
//   const Stmt fast = UnrollShortLoops(JoinLoops(s), {.operations = 32});
#ifndef KILN_COMPILER_LOOP_PARTITION_H_
#define KILN_COMPILER_LOOP_PARTITION_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "compiler/loop/loop.h"

namespace kiln::loop {

struct PartitionLimits {
  static constexpr double kAlways = std::numeric_limits<double>::infinity();

  int max_growth = 12;        // the code grows to at most about so many times its size …
  int64_t small_code = 1024;  // … or to so many nodes, if that is more; 0 with a growth of 1: never
  // Where guards stand in one loop nest beside others, only that nest is copied, behind a test in
  // each iteration around it, if what the guards of the borders test is less than this part of all
  // work. 0: never.
  double narrow_below = 0;
  // Whether the loops of such nests are unrolled in interiors alone.
  bool rolls_borders = false;
  // Guards in the ranges of serial loops are a reason to split.
  bool splits_ranges = true;
};

// Splits loops at the points where comparisons that are linear in the loop variable (select
// conditions, min and max in indices) change their truth, so that border and interior have code of
// their own and the interior is free of guards. A parallel loop stays one loop and gets branches.
// Needs flat indices; the result is simplified.
Stmt PartitionLoops(const Stmt& s, const PartitionLimits& limits = {});

// What is made of the loops that schedules leave for a small machine.
struct SmallLoops {
  bool join = false;
  // Loads, stores and steps of arithmetic, of a loop that is written out or of the iterations that
  // become one; elements of local buffers at fixed places are registers. 0: no loop is.
  int64_t operations = 0;
  bool floats = true;  // operations of floats are instructions, not calls of a library
};

// Makes one loop of a serial loop and the loop in it, where that goes through neighboring elements
// and the next iteration of the outer one goes on behind them: one counter, and a copy is one piece
// of memory. Needs flat indices; what is changed is simplified.
Stmt JoinLoops(const Stmt& s);

// Writes out innermost loops of a few operations, and several iterations of longer ones as one, so
// that counters, branches and addresses take less: gcc leaves that to its -O3, and the LLVM code
// generator runs no pass for it. Loops of dots stay as they are, and so do those that copy or fill
// memory, of which code generators and compilers make calls or words. Needs flat indices; what is
// changed is simplified.
Stmt UnrollShortLoops(const Stmt& s, const SmallLoops& limits);

// `elements` neighbors of `from`, beginning at `from_first`, go to `to`, beginning at `to_first`.
struct CopyLoop {
  Buffer to, from;
  Expr to_first, from_first;
  int64_t elements;
};

// The loop as a copy of known length from one buffer to another, if it is one; its indices are flat.
// Where the function is in_place, both may be parts of one memory, of which nothing is overwritten
// before it is read. Booleans are not copied as bytes, of which a load makes 0 or 1.
std::optional<CopyLoop> AsCopy(const For& loop);

// Whether a loop stores one value to neighboring elements.
bool IsFill(const For& loop);

// Whether the iterations of `outer` go on, in the index of a store and in those of all that it loads,
// where those of `inner`, which it is around and which has so many, have ended.
bool GoesOn(const For& outer, const For& inner, int64_t inner_extent, const Store& store);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARTITION_H_
