// SPDX-License-Identifier: Apache-2.0
// The part of a plan that handles the state of the model (Plan::states). The buffers of states are
// known.
#ifndef KILN_COMPILER_PLAN_KEEP_STATES_H_
#define KILN_COMPILER_PLAN_KEEP_STATES_H_

#include "compiler/plan/plan.h"

namespace kiln {

// Places the next value of every state in the memory of the state, or adds a call that copies it
// there. Requires the lifetimes of the calls so far. They are outdated afterwards.
void KeepStates(const Graph& graph, const PlanOptions& options, Plan& plan);

// Adds the pool of the states, in which they follow each other.
void PlaceStates(const PlanOptions& options, Plan& plan);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_KEEP_STATES_H_
