// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/code_shape.h"

namespace kiln {
namespace {

loop::SmallLoops SmallLoopsOf(const Target& target, Optimize optimize) {
  const CodeNumbers& numbers = target.machine->code;
  loop::SmallLoops loops = {.join = target.short_of_memory, .floats = target.has_fpu};
  // No loops are unrolled on cores with few registers: a keyword spotter took 27 % more
  // instructions.
  if (target.short_of_memory && !target.has_few_registers()) {
    loops.operations = numbers.unrolled_operations;
    loops.saved_by_operation =
        IsForSpeed(optimize) ? numbers.saved_by_operation : numbers.saved_by_small_operation;
  }
  return loops;
}

}  // namespace

CodeShape CodeShapeOf(const Target& target, Optimize optimize) {
  CodeShape shape;
  shape.partition.rolls_borders = target.vector_bits > 0;
  if (target.short_of_memory) shape.partition.narrow_below = target.machine->code.guards_of_borders;
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
