// SPDX-License-Identifier: Apache-2.0
// What a plan does with the state of the model (Plan::states), whose buffers are known.
#ifndef KILN_COMPILER_PLAN_KEEP_STATES_H_
#define KILN_COMPILER_PLAN_KEEP_STATES_H_

#include "compiler/plan/plan.h"

namespace kiln {

// Puts every next state into the memory of the state, or adds a call that copies it there. Lifetimes
// must be those of the calls so far; they change.
void KeepStates(const Graph& graph, const PlanOptions& options, Plan& plan);

// Adds the pool in which the states lie, behind each other.
void PlaceStates(const PlanOptions& options, Plan& plan);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_KEEP_STATES_H_
