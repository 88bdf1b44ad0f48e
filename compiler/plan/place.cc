// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/place.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "compiler/base/align.h"
#include "compiler/plan/place_in_order.h"

namespace kiln {
namespace {

constexpr int kHillClimbingSteps = 500;
constexpr size_t kMaxHillClimbingBuffers = 1000;
constexpr int kSearchesInVain = 8;

// Maximum number of pairs of buffers that are alive at the same time and compared.
constexpr size_t kMaxConflicts = size_t{1} << 20;
// Limit of the conflicts that hill climbing examines, over all steps.
constexpr size_t kMaxClimbedConflicts = size_t{1} << 27;

// Returns for each buffer the buffers that are alive at the same time. Returns nothing if there are
// more than kMaxConflicts pairs.
std::optional<std::vector<std::vector<int>>> Conflicts(const std::vector<Lifetime>& lifetimes) {
  std::vector<int> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](int i) -> const Lifetime& { return lifetimes[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return at(a).first < at(b).first; });
  std::vector<std::vector<int>> conflicts(lifetimes.size());
  std::vector<int> alive;
  size_t pairs = 0;
  for (int i : order) {
    std::erase_if(alive, [&](int j) { return at(j).last < at(i).first; });
    pairs += alive.size();
    if (pairs > kMaxConflicts) return std::nullopt;
    for (int j : alive) {
      conflicts[static_cast<size_t>(i)].push_back(j);
      conflicts[static_cast<size_t>(j)].push_back(i);
    }
    alive.push_back(i);
  }
  return conflicts;
}

size_t Pairs(const std::vector<std::vector<int>>& conflicts) {
  size_t pairs = 0;
  for (const std::vector<int>& others : conflicts) pairs += others.size();
  return pairs / 2;
}

// The data that all attempts to place the same lifetimes share.
struct PlaceTask {
  const std::vector<Lifetime>& lifetimes;
  std::vector<PoolShape> pools;
  std::vector<int> preference;  // pools, the fastest first
  std::vector<std::vector<int>> conflicts;
  // For each lifetime, the pairs in which it may overlap another one. These pairs are not in
  // `conflicts`.
  std::vector<std::vector<OverlapPair>> overlaps;
};

// Returns the lowest offset, not below `offset`, at which lifetime `i` may be next to or over the
// other lifetime of the pair. The other lifetime begins at `other`.
int64_t LowestOffset(const PlaceTask& task, const OverlapPair& pair, int i, int64_t other,
                     int64_t offset) {
  const bool is_input = i == pair.input;
  const auto bytes_of = [&](int k) { return task.lifetimes[static_cast<size_t>(k)].bytes; };
  const int64_t end = other + bytes_of(is_input ? pair.output : pair.input);
  if (offset + bytes_of(i) <= other || offset >= end) return offset;
  const int64_t multiple = pair.by.multiple_bytes, least = pair.by.distance_bytes;
  if (is_input) {
    const int64_t distance = std::max(offset - other, least);
    return std::min(end, other + AlignUp(distance, multiple));
  }
  const int64_t distance = other - offset;
  return distance < least ? end : other - distance / multiple * multiple;
}

// Returns the lowest offset in `pool` at which lifetime `i` fits between the lifetimes that it
// conflicts with.
int64_t LowestOffset(const PlaceTask& task, const Placement& placement, size_t i, int pool) {
  std::vector<std::pair<int64_t, int64_t>> taken;  // [begin, end)
  for (int j : task.conflicts[i]) {
    const size_t other = static_cast<size_t>(j);
    if (placement.pools[other] != pool) continue;
    const int64_t begin = placement.offsets[other];
    taken.emplace_back(begin, begin + task.lifetimes[other].bytes);
  }
  std::sort(taken.begin(), taken.end());
  for (int64_t offset = 0;;) {
    for (const auto& [begin, end] : taken) {
      if (offset + task.lifetimes[i].bytes <= begin) break;
      offset = std::max(offset, end);
    }
    const int64_t beside = offset;
    for (const OverlapPair& pair : task.overlaps[i]) {
      const int self = static_cast<int>(i);
      const auto other = static_cast<size_t>(pair.input == self ? pair.output : pair.input);
      if (placement.pools[other] != pool) continue;
      offset = LowestOffset(task, pair, self, placement.offsets[other], offset);
    }
    if (offset == beside) return offset;
  }
}

// Places each buffer of `order` in turn in the most preferred pool that has room.
Placement FirstFit(const PlaceTask& task, const std::vector<int>& order) {
  Placement placement;
  placement.pools.assign(task.lifetimes.size(), -1);
  placement.offsets.assign(task.lifetimes.size(), -1);
  placement.pool_bytes.assign(task.pools.size(), 0);
  for (int index : order) {
    const size_t i = static_cast<size_t>(index);
    const Lifetime& lifetime = task.lifetimes[i];
    for (int pool : task.preference) {
      const PoolShape& shape = task.pools[static_cast<size_t>(pool)];
      const int64_t offset = LowestOffset(task, placement, i, pool);
      if (lifetime.bytes > shape.limit_bytes - offset) continue;
      int64_t& used = placement.pool_bytes[static_cast<size_t>(pool)];
      used = std::max(used, offset + lifetime.bytes);
      placement.pools[i] = pool;
      placement.offsets[i] = offset;
      placement.cost += static_cast<double>(lifetime.traffic_bytes) / shape.speed;
      break;
    }
    if (placement.pools[i] < 0) placement.unplaced.push_back(index);
  }
  for (int64_t bytes : placement.pool_bytes) placement.total_bytes += bytes;
  std::sort(placement.unplaced.begin(), placement.unplaced.end());
  return placement;
}

// Sort key of placements. Smaller is better.
std::tuple<int64_t, double, int64_t> Rank(const std::vector<Lifetime>& lifetimes,
                                          const Placement& placement) {
  int64_t unplaced_bytes = 0;
  for (int i : placement.unplaced) unplaced_bytes += lifetimes[static_cast<size_t>(i)].bytes;
  return {unplaced_bytes, placement.cost, placement.total_bytes};
}

// Moves the pairs that may overlap from `conflicts` to `overlaps`.
void AllowOverlaps(const std::vector<OverlapPair>& overlaps, PlaceTask& task) {
  task.overlaps.resize(task.lifetimes.size());
  for (const OverlapPair& pair : overlaps) {
    for (const auto& [one, other] :
         {std::pair(pair.output, pair.input), std::pair(pair.input, pair.output)}) {
      std::erase(task.conflicts[static_cast<size_t>(one)], other);
      task.overlaps[static_cast<size_t>(one)].push_back(pair);
    }
  }
}

// Returns the fewest bytes that a placement with these overlaps can take.
int64_t LowerBound(const std::vector<Lifetime>& lifetimes,
                   const std::vector<OverlapPair>& overlaps) {
  std::vector<int64_t> alive = AliveBytes(lifetimes);
  for (const OverlapPair& pair : overlaps) {
    const Lifetime& output = lifetimes[static_cast<size_t>(pair.output)];
    const Lifetime& input = lifetimes[static_cast<size_t>(pair.input)];
    const int64_t both = std::max(output.bytes, pair.by.distance_bytes + input.bytes);
    alive[static_cast<size_t>(input.last)] -= output.bytes + input.bytes - both;
  }
  return *std::max_element(alive.begin(), alive.end());
}

// Searches for better placements by exchanging two buffers of an order.
class HillClimber {
 public:
  explicit HillClimber(const PlaceTask& task) {
    const size_t n = task.lifetimes.size();
    const size_t affordable = kMaxClimbedConflicts / std::max<size_t>(1, Pairs(task.conflicts));
    if (n > 1 && n <= kMaxHillClimbingBuffers) {
      steps_ = static_cast<int>(std::min<size_t>(kHillClimbingSteps, affordable));
    }
  }

  // Starts from `order`, whose placement is `best`. Replaces both by orders and placements that are
  // at least as good, until `done` returns true or all steps are taken.
  template <typename Done>
  void Climb(const PlaceTask& task, const Done& done, std::vector<int>& order, Placement& best) {
    for (int step = 0; step < steps_ && !done(); ++step) {
      std::vector<int> changed = order;
      std::swap(changed[Next(order.size())], changed[Next(order.size())]);
      Placement placement = FirstFit(task, changed);
      const auto found = Rank(task.lifetimes, placement), kept = Rank(task.lifetimes, best);
      if (found > kept) continue;
      placement.strategy = found < kept ? "hill climbing" : best.strategy;
      best = std::move(placement);
      order = std::move(changed);
    }
  }

 private:
  // The linear congruential generator of Numerical Recipes, which gives the same sequence
  // everywhere.
  size_t Next(size_t limit) {
    random_ = random_ * 1664525u + 1013904223u;
    return static_cast<size_t>(random_ >> 8) % limit;
  }

  int steps_ = 0;
  uint32_t random_ = 1;
};

struct Candidate {
  const char* strategy;
  std::vector<int> order;
};

// Returns the best placement by one of the candidates, and sets `order` to its order.
Placement BestOf(const PlaceTask& task, const std::vector<Candidate>& candidates,
                 std::vector<int>& order) {
  Placement best;
  for (const Candidate& candidate : candidates) {
    Placement placement = FirstFit(task, candidate.order);
    if (!best.strategy.empty() && !IsBetter(task.lifetimes, placement, best)) continue;
    best = std::move(placement);
    best.strategy = candidate.strategy;
    order = candidate.order;
  }
  return best;
}

// Makes a placement in one pool smaller. It searches with a pool that is too small, because the
// bytes of buffers without a place guide the search better than the size of a pool.
void Shrink(const PlaceTask& task, const std::vector<Candidate>& candidates, int64_t bound,
            std::vector<int> order, Placement& best) {
  const int64_t usual_bytes = best.total_bytes;
  PlaceTask smaller = task;
  Placement found;
  const auto is_placed = [&] { return found.unplaced.empty(); };
  int64_t unit = 0;
  for (const Lifetime& lifetime : task.lifetimes) unit = std::gcd(unit, lifetime.bytes);
  // Bisects between a size that is too small and one that is sufficient. Each search starts anew.
  for (int64_t too_small = bound - 1; best.total_bytes - too_small > unit;) {
    smaller.pools[0].limit_bytes = (best.total_bytes + too_small) / 2;
    std::vector<int> changed;
    found = BestOf(smaller, candidates, changed);
    HillClimber(task).Climb(smaller, is_placed, changed, found);
    if (is_placed()) {
      order = std::move(changed);
      best = found;
    } else {
      too_small = smaller.pools[0].limit_bytes;
    }
  }
  // Tries slightly smaller sizes. Each search starts where the previous one ended.
  HillClimber climber(task);
  for (int failed = 0; failed < kSearchesInVain && best.total_bytes > bound; ++failed) {
    smaller.pools[0].limit_bytes = best.total_bytes - 1;
    found = FirstFit(smaller, order);
    climber.Climb(smaller, is_placed, order, found);
    if (!is_placed()) continue;
    best = found;
    failed = -1;
  }
  if (best.total_bytes < usual_bytes) best.strategy = "hill climbing";
}

template <typename Less>
std::vector<int> Ordered(size_t n, Less less) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

}  // namespace

std::vector<int64_t> AliveBytes(const std::vector<Lifetime>& lifetimes) {
  int last = 0;
  for (const Lifetime& l : lifetimes) last = std::max(last, l.last);
  std::vector<int64_t> change(static_cast<size_t>(last) + 2, 0);
  for (const Lifetime& l : lifetimes) {
    change[static_cast<size_t>(l.first)] += l.bytes;
    change[static_cast<size_t>(l.last) + 1] -= l.bytes;
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  return change;
}

int64_t LowerBound(const std::vector<Lifetime>& lifetimes) { return LowerBound(lifetimes, {}); }

bool IsBetter(const std::vector<Lifetime>& lifetimes, const Placement& a, const Placement& b) {
  return Rank(lifetimes, a) < Rank(lifetimes, b);
}

Placement Place(const std::vector<Lifetime>& lifetimes, const std::vector<PoolShape>& pools,
                const std::vector<OverlapPair>& overlaps, Effort effort) {
  const size_t n = lifetimes.size();
  std::vector<int> preference = Ordered(pools.size(), [&](int a, int b) {
    return pools[static_cast<size_t>(a)].speed > pools[static_cast<size_t>(b)].speed;
  });
  std::optional<std::vector<std::vector<int>>> conflicts = Conflicts(lifetimes);
  if (!conflicts.has_value()) return PlaceInOrder(lifetimes, pools, preference);
  PlaceTask task{lifetimes, pools, std::move(preference), *std::move(conflicts), {}};
  AllowOverlaps(overlaps, task);
  const auto at = [&](int i) -> const Lifetime& { return lifetimes[static_cast<size_t>(i)]; };
  const auto degree = [&](int i) { return task.conflicts[static_cast<size_t>(i)].size(); };
  const auto span = [&](int i) { return at(i).last - at(i).first; };
  // Compares products, because quotients would be rounded.
  const auto hotter = [&](int a, int b) {
    return static_cast<double>(at(a).traffic_bytes) * static_cast<double>(at(b).bytes) >
           static_cast<double>(at(b).traffic_bytes) * static_cast<double>(at(a).bytes);
  };
  std::vector<Candidate> candidates = {
      {"greedy by size", Ordered(n, [&](int a, int b) { return at(a).bytes > at(b).bytes; })},
      {"greedy by conflicts", Ordered(n, [&](int a, int b) { return degree(a) > degree(b); })},
      {"greedy by lifetime", Ordered(n, [&](int a, int b) { return span(a) > span(b); })},
  };
  if (pools.size() > 1) candidates.push_back({"greedy by traffic", Ordered(n, hotter)});
  // Places the lifetimes that overlap first, beginning with the latest. Inputs then find a place
  // above the outputs that reach into them.
  const auto last_first = [&](int a, int b) {
    const auto rank = [&](int i) {
      const bool overlaps_another = !task.overlaps[static_cast<size_t>(i)].empty();
      return std::tuple(!overlaps_another, overlaps_another ? -at(i).first : 0, -at(i).bytes);
    };
    return rank(a) < rank(b);
  };
  if (!overlaps.empty()) candidates.push_back({"the last first", Ordered(n, last_first)});
  Placement best;
  best.pool_bytes.assign(pools.size(), 0);
  if (n == 0) return best;
  std::vector<int> order;
  best = BestOf(task, candidates, order);
  const int64_t bound = LowerBound(lifetimes, overlaps);
  const auto done = [&] {
    return pools.size() == 1 && best.unplaced.empty() && best.total_bytes <= bound;
  };
  HillClimber(task).Climb(task, done, order, best);
  if (effort == Effort::kSmallest && pools.size() == 1 && best.unplaced.empty()) {
    Shrink(task, candidates, bound, std::move(order), best);
  }
  return best;
}

}  // namespace kiln
