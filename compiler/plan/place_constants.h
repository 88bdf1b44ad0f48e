// SPDX-License-Identifier: Apache-2.0
// Placement of constants in pools that the application described: fast and slow memory for weights.
#ifndef KILN_COMPILER_PLAN_PLACE_CONSTANTS_H_
#define KILN_COMPILER_PLAN_PLACE_CONSTANTS_H_

#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"

namespace kiln {

// Sets Constant::pool of every constant of the program, and Plan::constant_pools. Constants with
// the most reads per byte go first, into the fastest pool that has room, or the first of equally
// fast ones. Other orders (largest first, tightest pool first) are used if they leave fewer bytes
// without a place or cost less. Without pools nothing changes. Returns ResourceExhausted, with the
// missing bytes and the constants that have no place, if the pools are too small.
absl::Status PlaceConstants(const std::vector<PoolSpec>& pools, loop::LoopProgram& program,
                            Plan& plan);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLACE_CONSTANTS_H_
