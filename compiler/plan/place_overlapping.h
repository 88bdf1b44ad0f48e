// SPDX-License-Identifier: Apache-2.0
// PlaceOverlapping: places the buffers of a plan. Outputs reach into inputs if that makes the plan
// smaller.
#ifndef KILN_COMPILER_PLAN_PLACE_OVERLAPPING_H_
#define KILN_COMPILER_PLAN_PLACE_OVERLAPPING_H_

#include <vector>

#include "compiler/plan/place.h"
#include "compiler/plan/plan.h"

namespace kiln {

// Lifetime i belongs to buffer placed[i] of the plan. Its times are the numbers of calls plus one.
// Sets the plan's overlaps and the bytes that they save. Outputs only overlap in calls that need
// it, because functions without memory of their own for outputs can be slower.
Placement PlaceOverlapping(const std::vector<Lifetime>& lifetimes,
                           const std::vector<PoolShape>& pools, const std::vector<int>& placed,
                           const OverlapFinder& find_overlap, Effort effort, Plan& plan);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLACE_OVERLAPPING_H_
