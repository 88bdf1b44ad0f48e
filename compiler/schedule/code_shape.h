// SPDX-License-Identifier: Apache-2.0
// CodeShape: limits on how often schedules repeat code for speed, as --optimize sets them.
#ifndef KILN_COMPILER_SCHEDULE_CODE_SHAPE_H_
#define KILN_COMPILER_SCHEDULE_CODE_SHAPE_H_

#include <cstdint>

#include "compiler/loop/partition.h"
#include "compiler/loop/small_loops.h"
#include "compiler/target/target.h"

namespace kiln {

// Goal of the generated code. kRam minimizes the workspace first and optimizes for speed otherwise.
// Outputs are bit-identical for all goals, except for the order of floating-point sums.
enum class Optimize { kSpeed, kBalanced, kSize, kRam };

// True if the number of executed instructions matters more than the size of the code.
inline bool IsForSpeed(Optimize optimize) {
  return optimize == Optimize::kSpeed || optimize == Optimize::kRam;
}

struct CodeShape {
  loop::PartitionLimits partition = {};
  // The epilogue of a tile is a loop over the sums, instead of separate code for each sum.
  bool loops_over_sums = false;
  // A smaller last tile of a row runs in the loop of the other tiles.
  bool loops_over_rest = false;
  // Rows are copied by one loop that tests each run of elements for padding. Otherwise the elements
  // of several rows are unrolled, and the interior has separate code.
  bool tests_runs = false;
  loop::SmallLoops small_loops = {};
  bool small = false;  // code generators and program passes prefer small code, too
};

CodeShape CodeShapeOf(const Target& target, Optimize optimize);

}  // namespace kiln

#endif  // KILN_COMPILER_SCHEDULE_CODE_SHAPE_H_
