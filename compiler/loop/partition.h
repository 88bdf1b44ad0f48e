// SPDX-License-Identifier: Apache-2.0
// PartitionLoops, a pass like those of passes.h, and the limits of the code that it may add.
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

  int max_growth = 12;        // the code may grow to about this multiple of its size …
  int64_t small_code = 1024;  // … or to this number of nodes, if that is more; 0 with max_growth 1:
                              // no growth
  // If guards are in one loop nest next to others, only that nest is copied, and each iteration
  // around it has a test. This requires that the guarded work of the borders is less than this part
  // of all work. 0: never.
  double narrow_below = 0;
  // True if the loops of such nests are unrolled in the interior only.
  bool rolls_borders = false;
  // True if guards in the ranges of serial loops are a reason to split.
  bool splits_ranges = true;
};

// Splits loops at the points where comparisons that are linear in the loop variable (conditions of
// selects, min and max in indices) change their truth. Border and interior then have separate code,
// and the interior has no guards. A parallel loop stays one loop and gets branches. Needs flat
// indices. The result is simplified.
Stmt PartitionLoops(const Stmt& s, const PartitionLimits& limits = {});

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARTITION_H_
