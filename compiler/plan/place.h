// SPDX-License-Identifier: Apache-2.0
// Placement of buffers with lifetimes in pools of memory. Buffers that are alive at the same time
// do not overlap.
//
//   const Placement placement = Place(lifetimes);                                // one pool
//   const Placement placement = Place(lifetimes, {{.limit_bytes = 65536, .speed = 4}, {}});
//   if (!placement.unplaced.empty()) …                                           // too small
#ifndef KILN_COMPILER_PLAN_PLACE_H_
#define KILN_COMPILER_PLAN_PLACE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiler/loop/overlap.h"

namespace kiln {

struct Lifetime {
  int64_t bytes;  // a multiple of the alignment
  int first;      // first and last call, inclusive
  int last;
  int64_t traffic_bytes = 0;  // bytes read and written while it is alive
};

// Two lifetimes, the output and the input of one call, that may share bytes although both are alive
// in it. The output must begin before the input by a distance that `by` allows.
struct OverlapPair {
  int output, input;  // lifetimes
  loop::Overlap by;
};

// Properties of a pool that matter for placing.
struct PoolShape {
  int64_t limit_bytes = std::numeric_limits<int64_t>::max();
  double speed = 1;  // relative: bytes per time
};

struct Placement {
  std::vector<int> pools;  // per lifetime; -1: it has no place
  std::vector<int64_t> offsets;
  std::vector<int64_t> pool_bytes;  // used bytes of every pool
  int64_t total_bytes = 0;
  double cost = 0;            // sum of traffic / speed
  std::vector<int> unplaced;  // lifetimes
  std::string strategy;
};

// Returns the bytes that are alive at each time, from 0 to the last one.
std::vector<int64_t> AliveBytes(const std::vector<Lifetime>& lifetimes);
// Returns the largest number of bytes that are alive at the same time.
int64_t LowerBound(const std::vector<Lifetime>& lifetimes);

// With kSmallest, the search in one pool goes on until several searches in a row find nothing
// smaller.
enum class Effort { kUsual, kSmallest };

// Returns the best placement of several strategies. Each places the buffers in turn, in the fastest
// pool that has room, or the first of equally fast ones. The strategies are:
// - greedy by size, by number of conflicts, and by lifetime,
// - with several pools, greedy by traffic,
// - with overlaps, the last lifetimes first,
// - hill climbing over the order, from the best of these.
//
// The best placement has the fewest bytes without a place, then the lowest cost, then the smallest
// size. If more than a million pairs of buffers are alive at the same time, buffers are placed in
// order of lifetimes instead (place_in_order.h) and none overlap. The result is deterministic.
// Without lifetimes, `strategy` is empty.
Placement Place(const std::vector<Lifetime>& lifetimes, const std::vector<PoolShape>& pools = {{}},
                const std::vector<OverlapPair>& overlaps = {}, Effort effort = Effort::kUsual);

// True if `a` is the better of two placements of these lifetimes.
bool IsBetter(const std::vector<Lifetime>& lifetimes, const Placement& a, const Placement& b);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLACE_H_
