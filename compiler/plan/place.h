// SPDX-License-Identifier: Apache-2.0
// Placing buffers with lifetimes in one piece of memory, so that buffers alive at the same time do
// not overlap.
#ifndef KILN_COMPILER_PLAN_PLACE_H_
#define KILN_COMPILER_PLAN_PLACE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

struct Lifetime {
  int64_t bytes;  // a multiple of the alignment
  int first;      // calls, inclusive
  int last;
};

struct Placement {
  std::vector<int64_t> offsets;
  int64_t total_bytes = 0;
  std::string strategy;
};

// Most bytes alive at once.
int64_t LowerBound(const std::vector<Lifetime>& lifetimes);

// The best of: greedy by size, greedy by number of conflicts, greedy by lifetime, and hill climbing
// over the order from the best of these. Deterministic. Without lifetimes, no strategy.
Placement Place(const std::vector<Lifetime>& lifetimes);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLACE_H_
