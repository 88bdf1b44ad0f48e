// SPDX-License-Identifier: Apache-2.0
// PlaceInOrder: places buffers as a program that allocates would, each when it begins to live, in
// the smallest gap that holds it. Needs more memory than the strategies of place.cc at times, but
// time that grows with the number of buffers alone, whatever is alive at once.
#ifndef KILN_COMPILER_PLAN_PLACE_IN_ORDER_H_
#define KILN_COMPILER_PLAN_PLACE_IN_ORDER_H_

#include <vector>

#include "compiler/plan/place.h"

namespace kiln {

// `preference`: the pools in the order in which a buffer tries them.
Placement PlaceInOrder(const std::vector<Lifetime>& lifetimes, const std::vector<PoolShape>& pools,
                       const std::vector<int>& preference);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLACE_IN_ORDER_H_
