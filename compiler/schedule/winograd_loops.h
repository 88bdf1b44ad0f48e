// SPDX-License-Identifier: Apache-2.0
// The loops of a convolution by Winograd's filtering.
#ifndef KILN_COMPILER_SCHEDULE_WINOGRAD_LOOPS_H_
#define KILN_COMPILER_SCHEDULE_WINOGRAD_LOOPS_H_

#include <vector>

#include "compiler/schedule/register_tile.h"
#include "compiler/schedule/winograd_plan.h"

namespace kiln::schedule {

// Returns the loops that compute `stage`, which is `problem`, and its epilogues. They read `data`,
// [batch, rows, columns, channels], which all tiles cover and which includes the zeros around the
// input. Adds the transformed weights and scratch memory to `context`.
Stmt WinogradLoops(const WinogradProblem& problem, const WinogradDivision& division,
                   const Stage& stage, std::vector<Epilogue> epilogues, const Buffer& data,
                   Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_WINOGRAD_LOOPS_H_
