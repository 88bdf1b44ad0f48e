// SPDX-License-Identifier: Apache-2.0
// Vectorization of a stage that reduces.
#ifndef KILN_COMPILER_SCHEDULE_REDUCTION_STAGE_H_
#define KILN_COMPILER_SCHEDULE_REDUCTION_STAGE_H_

#include "compiler/schedule/families.h"
#include "compiler/schedule/sum_order.h"

namespace kiln::schedule {

// Adds a line about the order of a stage's sums to the plans.
void NoteOrder(const Stage& stage, const SumOrder& order, Context& context);

// Returns the stage with constants in the layout for vectors along the axis that `order` names, or
// as dot products.
Stage ForVectors(const Stage& stage, const SumOrder& order, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_REDUCTION_STAGE_H_
