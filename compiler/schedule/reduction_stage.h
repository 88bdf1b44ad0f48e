// SPDX-License-Identifier: Apache-2.0
// One stage that reduces: along which axis it is made of vectors.
#ifndef KILN_COMPILER_SCHEDULE_REDUCTION_STAGE_H_
#define KILN_COMPILER_SCHEDULE_REDUCTION_STAGE_H_

#include "compiler/schedule/families.h"

namespace kiln::schedule {

// Vectors of sums.
inline constexpr int kVectorsPerTile = 4;  // enough to hide the latency of an addition

// The innermost axis of the space, or the innermost one of the reduction.
enum class Along { kSpace, kReduce };
Along VectorAxis(const Stage& stage);

// The stage over constants that lie right for vectors along the axis.
Stage ForVectors(const Stage& stage, Along along, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_REDUCTION_STAGE_H_
