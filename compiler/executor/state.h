// SPDX-License-Identifier: Apache-2.0
// Code and data for the state that the model keeps itself (Plan::states). Its memory is one block,
// of the module or of the application.
#ifndef KILN_COMPILER_EXECUTOR_STATE_H_
#define KILN_COMPILER_EXECUTOR_STATE_H_

#include <string>

#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"

namespace kiln {

// Adds the functions that copy a state at the end of a run, with the names in the plan's calls.
void AddStateCopies(const Plan& plan, loop::LoopProgram& program);

// Adds the function <prefix>_initialize_state, which sets a block to the state before the first
// run. If the block is not the application's, also adds <prefix>_state, which holds that state when
// the program starts.
void AddStateBlock(const Plan& plan, const std::string& prefix, loop::LoopProgram& program);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_STATE_H_
