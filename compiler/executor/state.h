// SPDX-License-Identifier: Apache-2.0
// What a program has for the state that the model keeps itself (Plan::states), whose memory is one
// block, of the module's or of the application's.
#ifndef KILN_COMPILER_EXECUTOR_STATE_H_
#define KILN_COMPILER_EXECUTOR_STATE_H_

#include <string>

#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"

namespace kiln {

// The functions that calls of the plan name, which copy a state at the end of a run.
void AddStateCopies(const Plan& plan, loop::LoopProgram& program);

// The function <prefix>_initialize_state, which gives a block the state from before the first run,
// and, where the block is not the application's, <prefix>_state, which has it when the program
// starts.
void AddStateBlock(const Plan& plan, const std::string& prefix, loop::LoopProgram& program);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_STATE_H_
