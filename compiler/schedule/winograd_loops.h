// SPDX-License-Identifier: Apache-2.0
// The loops of a convolution by Winograd's filtering.
#ifndef KILN_COMPILER_SCHEDULE_WINOGRAD_LOOPS_H_
#define KILN_COMPILER_SCHEDULE_WINOGRAD_LOOPS_H_

#include <vector>

#include "compiler/schedule/register_tile.h"
#include "compiler/schedule/winograd_plan.h"

namespace kiln::schedule {

// The loops that compute `stage`, which is `problem`, and its epilogues. They read `data`, zeros
// around it included: [batch, rows, columns, channels] that all tiles cover. Adds the transformed
// weights and scratch memory to `context`.
Stmt WinogradLoops(const WinogradProblem& problem, const WinogradDivision& division,
                   const Stage& stage, std::vector<Epilogue> epilogues, const Buffer& data,
                   Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_WINOGRAD_LOOPS_H_
