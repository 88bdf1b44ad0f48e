// SPDX-License-Identifier: Apache-2.0
// Rows in lanes: what lies between the stages of a block of rows (shared_rows.cc) has the rows
// innermost, so that every lane of a vector has a row of its own. Rows of any length then leave no
// lane empty, the maximum and the sum of a row need no shuffles, and products of a few columns fill
// vectors.
#ifndef KILN_COMPILER_SCHEDULE_ROWS_IN_LANES_H_
#define KILN_COMPILER_SCHEDULE_ROWS_IN_LANES_H_

#include <cstddef>

#include "compiler/schedule/families.h"
#include "compiler/schedule/shared_loops.h"

namespace kiln::schedule {

// Whether rows in lanes can be had for the kernel, whose stages share the rows at `axis`, and take
// clearly fewer vector operations than lanes along the rows. Stages are of float32.
bool PrefersRowsInLanes(const loop::Kernel& kernel, size_t axis, const Target& target);

// The stage, which stores by its axes, with the axis at `position` behind the others.
Stage WithInnermost(const Stage& stage, size_t position);

// Lets the last stage only move what the one before it computes or makes of sums: sums that are
// outputs get a buffer of their own.
void StoreApart(loop::Kernel& kernel);

// The stages with their first axis, the rows, behind the others, and so in the buffers. The last
// stage, which stores an output, keeps the order of its axes.
void MoveRowsInnermost(Inner& inner);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_ROWS_IN_LANES_H_
