// SPDX-License-Identifier: Apache-2.0
// PlaceInOrder: places buffers as an allocator would, each at the begin of its lifetime, in the
// smallest gap that holds it. It may need more memory than the strategies of place.cc. Its time
// only depends on the number of buffers, not on how many are alive at the same time.
#ifndef KILN_COMPILER_PLAN_PLACE_IN_ORDER_H_
#define KILN_COMPILER_PLAN_PLACE_IN_ORDER_H_

#include <vector>

#include "compiler/plan/place.h"

namespace kiln {

// `preference` has the pools in the order in which a buffer tries them.
Placement PlaceInOrder(const std::vector<Lifetime>& lifetimes, const std::vector<PoolShape>& pools,
                       const std::vector<int>& preference);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLACE_IN_ORDER_H_
