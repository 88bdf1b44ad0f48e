// SPDX-License-Identifier: Apache-2.0
// PlaceOverlapping: places the buffers of a plan, where that makes it smaller so that outputs reach
// into inputs.
#ifndef KILN_COMPILER_PLAN_PLACE_OVERLAPPING_H_
#define KILN_COMPILER_PLAN_PLACE_OVERLAPPING_H_

#include <vector>

#include "compiler/plan/place.h"
#include "compiler/plan/plan.h"

namespace kiln {

// Lifetime i is that of buffer placed[i] of the plan, in times that are one more than the numbers
// of calls. Sets the plan's overlaps and what they save. Only calls that need them overlap: code
// that may not rely on memory of its own can be slower.
Placement PlaceOverlapping(const std::vector<Lifetime>& lifetimes,
                           const std::vector<PoolShape>& pools, const std::vector<int>& placed,
                           const OverlapFinder& find_overlap, Effort effort, Plan& plan);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLACE_OVERLAPPING_H_
