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

// The pool into which buffers go for which no other has room, the last of the slowest ones, and the bytes
// that would do where all others stay as they are.
struct EnoughMemory {
  size_t pool;
  int64_t bytes;
};

// ResourceExhausted: which buffers have no place in the pools, and what would do. Lifetime i is that of
// buffer placed[i].
absl::Status PoolsTooSmall(const Plan& plan, const Placement& placement,
                           const std::vector<int>& placed, const std::vector<Lifetime>& lifetimes,
                           const EnoughMemory& enough);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_POOLS_TOO_SMALL_H_
