// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_PLAN_POOLS_TOO_SMALL_H_
#define KILN_COMPILER_PLAN_POOLS_TOO_SMALL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "compiler/plan/place.h"
#include "compiler/plan/plan.h"

namespace kiln {

// The last of the slowest pools, which takes the buffers for which no other pool has room. `bytes`
// is a sufficient size for it if all other pools keep their sizes.
struct EnoughMemory {
  size_t pool;
  int64_t bytes;
};

// Returns ResourceExhausted with the buffers that have no place in the pools and the size that
// would be sufficient. Lifetime i belongs to buffer placed[i].
absl::Status PoolsTooSmall(const Plan& plan, const Placement& placement,
                           const std::vector<int>& placed, const std::vector<Lifetime>& lifetimes,
                           const EnoughMemory& enough);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_POOLS_TOO_SMALL_H_
