// SPDX-License-Identifier: Apache-2.0
// Vectorization of a stage that reduces.
#ifndef KILN_COMPILER_SCHEDULE_REDUCTION_STAGE_H_
#define KILN_COMPILER_SCHEDULE_REDUCTION_STAGE_H_

#include "compiler/schedule/families.h"

namespace kiln::schedule {

// Number of vectors of sums.
// Vectors are along the innermost axis of the space, or along the innermost axis of the reduction.
enum class Along { kSpace, kReduce };
Along VectorAxis(const Stage& stage);

// Returns the stage with constants in the layout for vectors along the axis, or as dot products.
Stage ForVectors(const Stage& stage, Along along, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_REDUCTION_STAGE_H_
