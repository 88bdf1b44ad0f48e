// SPDX-License-Identifier: Apache-2.0
// Rows in lanes: the buffers between the stages of a block of rows (shared_rows.cc) have the rows
// innermost, so that every lane of a vector has a row of its own. Rows of any length then leave no
// lane empty, the maximum and the sum of a row need no shuffles, and products of a few columns fill
// vectors.
#ifndef KILN_COMPILER_SCHEDULE_ROWS_IN_LANES_H_
#define KILN_COMPILER_SCHEDULE_ROWS_IN_LANES_H_

#include <cstddef>

#include "compiler/schedule/families.h"
#include "compiler/schedule/shared_loops.h"

namespace kiln::schedule {

// True if rows in lanes are possible for the kernel, whose stages share the rows at `axis`, and
// take clearly fewer vector operations than lanes along the rows. All stages have to be float32.
bool PrefersRowsInLanes(const loop::Kernel& kernel, size_t axis, const Target& target);

// Returns the stage with the axis at `position` moved after the others. A stage that does not store
// at its axes is returned unchanged.
Stage WithInnermost(const Stage& stage, size_t position);

// Lets the last stage only move values that the stage before it computes. If the last stage
// computes sums, these get a buffer of their own, and a new stage copies them to the output.
void StoreApart(loop::Kernel& kernel);

// Moves the first axis of the stages, the rows, after the other axes, also in the buffers. The last
// stage, which stores an output, keeps the order of its axes.
void MoveRowsInnermost(Inner& inner);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_ROWS_IN_LANES_H_
