// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/code_shape.h"

namespace kiln {
namespace {

// Largest share of a loop's work that guards of borders may have if flash is short. Loops that copy
// the rows of 3 x 3 windows for 16 or more columns are at 1/170 or less. Loops that copy 80
// elements of one channel for 8 columns are at 1/80, and would take 15 % more instructions.
constexpr double kGuardsOfBorders = 1.0 / 128;

// Operations of a window of 3 x 3 taps for four sums of a tile.
constexpr int64_t kUnrolledOperations = 80;
// Share of the program's work that each operation of unrolled code must save. A load, a store or an
// arithmetic operation is 2 to 4 bytes of code. At 1/80000, code for speed grows by another 3.5 %
// for 0.3 % fewer instructions. At 1/5000, small models take up to 5 % more instructions.
constexpr double kSavedByOperation = 1.0 / 20000;
// The same if code is not for speed only. MobileNet 0.25 grows by 30 bytes for 1 % fewer
// instructions.
constexpr double kSavedBySmallOperation = 1.0 / 1500;

loop::SmallLoops SmallLoopsOf(const Target& target, Optimize optimize) {
  loop::SmallLoops loops = {.join = target.short_of_memory, .floats = target.has_fpu};
  // No loops are unrolled on cores with few registers: a keyword spotter took 27 % more
  // instructions.
  if (target.short_of_memory && !target.has_few_registers()) {
    loops.operations = kUnrolledOperations;
    loops.saved_by_operation = IsForSpeed(optimize) ? kSavedByOperation : kSavedBySmallOperation;
  }
  return loops;
}

}  // namespace

CodeShape CodeShapeOf(const Target& target, Optimize optimize) {
  CodeShape shape;
  shape.partition.rolls_borders = target.vector_bits > 0;
  if (target.short_of_memory) shape.partition.narrow_below = kGuardsOfBorders;
  shape.small_loops = SmallLoopsOf(target, optimize);
  if (IsForSpeed(optimize)) return shape;
  shape.partition.narrow_below = loop::PartitionLimits::kAlways;
  shape.partition.splits_ranges = false;
  if (optimize == Optimize::kBalanced) return shape;
  shape.partition.max_growth = 1;
  shape.partition.small_code = 0;
  shape.tests_runs = true;
  shape.loops_over_sums = true;
  shape.loops_over_rest = true;
  shape.small = true;
  return shape;
}

}  // namespace kiln
