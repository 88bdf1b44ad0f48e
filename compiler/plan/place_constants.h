// SPDX-License-Identifier: Apache-2.0
// Constants in pools that the application described: fast and slow memory for weights.
#ifndef KILN_COMPILER_PLAN_PLACE_CONSTANTS_H_
#define KILN_COMPILER_PLAN_PLACE_CONSTANTS_H_

#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"

namespace kiln {

// Sets Constant::pool of every constant of the program, and Plan::constant_pools. What is read most
// often for its size goes into the fastest pool that has room; of equally fast ones, the first.
// Where that leaves something without a place, or costs more, what fits best or is largest comes
// first. Without pools nothing changes. ResourceExhausted, with what is missing and the constants
// that have no place, if the pools are too small.
absl::Status PlaceConstants(const std::vector<PoolSpec>& pools, loop::LoopProgram& program,
                            Plan& plan);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLACE_CONSTANTS_H_
