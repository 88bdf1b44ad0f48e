// SPDX-License-Identifier: Apache-2.0
// PartitionLoops, a pass as those of passes.h, and how much code it may add, and where.
//
//   const Stmt small = PartitionLoops(s, {.narrow_below = PartitionLimits::kAlways});
#ifndef KILN_COMPILER_LOOP_PARTITION_H_
#define KILN_COMPILER_LOOP_PARTITION_H_

#include <cstdint>
#include <limits>

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

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARTITION_H_
