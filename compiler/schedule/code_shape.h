// SPDX-License-Identifier: Apache-2.0
// CodeShape: how often schedules may repeat code for speed, as --optimize says.
#ifndef KILN_COMPILER_SCHEDULE_CODE_SHAPE_H_
#define KILN_COMPILER_SCHEDULE_CODE_SHAPE_H_

#include <cstdint>

#include "compiler/loop/partition.h"
#include "compiler/loop/small_loops.h"
#include "compiler/target/target.h"

namespace kiln {

// What code is made for; kRam: the smallest workspace, and speed beside that. Outputs are the same to
// the bit, but for the order of floating-point sums.
enum class Optimize { kSpeed, kBalanced, kSize, kRam };

// Instructions count for more than bytes of code.
inline bool IsForSpeed(Optimize optimize) {
  return optimize == Optimize::kSpeed || optimize == Optimize::kRam;
}

struct CodeShape {
  loop::PartitionLimits partition = {};
  // What a tile makes of its sums is a loop over them, instead of code for each.
  bool loops_over_sums = false;
  // The last tile of a row, if it is smaller, runs in the loop of the others.
  bool loops_over_rest = false;
  // Rows are copied by one loop that tests each run of elements for padding. Otherwise the elements
  // of several rows are written out, and interiors have code of their own.
  bool tests_runs = false;
  loop::SmallLoops small_loops = {};
  bool small = false;  // what code generators make of loops
};

CodeShape CodeShapeOf(const Target& target, Optimize optimize);

}  // namespace kiln

#endif  // KILN_COMPILER_SCHEDULE_CODE_SHAPE_H_
