// SPDX-License-Identifier: Apache-2.0
// Placing buffers with lifetimes in pools of memory, so that buffers alive at the same time do not
// overlap.
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
  int first;      // calls, inclusive
  int last;
  int64_t traffic_bytes = 0;  // read and written while it lives
};

// Two lifetimes that may share bytes though both are alive in one call, as the output and the input
// of it: if the output begins before the input by a distance that `by` allows.
struct OverlapPair {
  int output, input;  // lifetimes
  loop::Overlap by;
};

// A pool as far as placing is concerned.
struct PoolShape {
  int64_t limit_bytes = std::numeric_limits<int64_t>::max();
  double speed = 1;  // relative: bytes per time
};

struct Placement {
  std::vector<int> pools;  // per lifetime; -1: it found no place
  std::vector<int64_t> offsets;
  std::vector<int64_t> pool_bytes;  // used of every pool
  int64_t total_bytes = 0;
  double cost = 0;            // sum of traffic / speed
  std::vector<int> unplaced;  // lifetimes
  std::string strategy;
};

// Bytes that are alive at each time, from 0 to the last one.
std::vector<int64_t> AliveBytes(const std::vector<Lifetime>& lifetimes);
// Most bytes alive at once.
int64_t LowerBound(const std::vector<Lifetime>& lifetimes);

// With kSmallest, one pool is searched until several searches in a row have found nothing smaller.
enum class Effort { kUsual, kSmallest };

// The best of: greedy by size, greedy by number of conflicts, greedy by lifetime, with several
// pools greedy by traffic, with overlaps the last ones first, and hill climbing over the order from
// the best of these. A buffer goes into the fastest pool that has room; of equally fast ones, the
// first. Best is what leaves the fewest bytes unplaced, then what costs least, then what is
// smallest. Where more than a million pairs of buffers are alive together, they are placed in order
// of lifetimes instead (place_in_order.h), and none overlap. Deterministic. Without lifetimes, no
// strategy.
Placement Place(const std::vector<Lifetime>& lifetimes, const std::vector<PoolShape>& pools = {{}},
                const std::vector<OverlapPair>& overlaps = {}, Effort effort = Effort::kUsual);

// Whether `a` is the better of two placements of these lifetimes.
bool IsBetter(const std::vector<Lifetime>& lifetimes, const Placement& a, const Placement& b);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLACE_H_
