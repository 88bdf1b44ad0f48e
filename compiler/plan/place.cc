// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/place.h"

#include <algorithm>
#include <numeric>

namespace kiln {
namespace {

constexpr int kHillClimbingSteps = 500;
constexpr size_t kMaxHillClimbingBuffers = 1000;

bool Overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

std::vector<std::vector<int>> Conflicts(const std::vector<Lifetime>& lifetimes) {
  std::vector<std::vector<int>> conflicts(lifetimes.size());
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!Overlap(lifetimes[i], lifetimes[j])) continue;
      conflicts[i].push_back(static_cast<int>(j));
      conflicts[j].push_back(static_cast<int>(i));
    }
  }
  return conflicts;
}

// Each buffer of `order` in turn at the lowest offset where it fits between those it conflicts
// with.
Placement FirstFit(const std::vector<Lifetime>& lifetimes,
                   const std::vector<std::vector<int>>& conflicts, const std::vector<int>& order) {
  Placement placement;
  placement.offsets.assign(lifetimes.size(), -1);
  std::vector<std::pair<int64_t, int64_t>> taken;  // [begin, end)
  for (int i : order) {
    taken.clear();
    for (int j : conflicts[static_cast<size_t>(i)]) {
      const int64_t offset = placement.offsets[static_cast<size_t>(j)];
      if (offset >= 0) taken.emplace_back(offset, offset + lifetimes[static_cast<size_t>(j)].bytes);
    }
    std::sort(taken.begin(), taken.end());
    const int64_t bytes = lifetimes[static_cast<size_t>(i)].bytes;
    int64_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (offset + bytes <= begin) break;
      offset = std::max(offset, end);
    }
    placement.offsets[static_cast<size_t>(i)] = offset;
    placement.total_bytes = std::max(placement.total_bytes, offset + bytes);
  }
  return placement;
}

template <typename Less>
std::vector<int> Ordered(size_t n, Less less) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

}  // namespace

int64_t LowerBound(const std::vector<Lifetime>& lifetimes) {
  int last = 0;
  for (const Lifetime& l : lifetimes) last = std::max(last, l.last);
  std::vector<int64_t> change(static_cast<size_t>(last) + 2, 0);
  for (const Lifetime& l : lifetimes) {
    change[static_cast<size_t>(l.first)] += l.bytes;
    change[static_cast<size_t>(l.last) + 1] -= l.bytes;
  }
  int64_t alive = 0, most = 0;
  for (int64_t c : change) most = std::max(most, alive += c);
  return most;
}

Placement Place(const std::vector<Lifetime>& lifetimes) {
  const size_t n = lifetimes.size();
  const std::vector<std::vector<int>> conflicts = Conflicts(lifetimes);
  const auto at = [&](int i) -> const Lifetime& { return lifetimes[static_cast<size_t>(i)]; };
  const auto degree = [&](int i) { return conflicts[static_cast<size_t>(i)].size(); };
  const auto span = [&](int i) { return at(i).last - at(i).first; };
  struct Candidate {
    const char* name;
    std::vector<int> order;
  };
  const Candidate candidates[] = {
      {"greedy by size", Ordered(n, [&](int a, int b) { return at(a).bytes > at(b).bytes; })},
      {"greedy by conflicts", Ordered(n, [&](int a, int b) { return degree(a) > degree(b); })},
      {"greedy by lifetime", Ordered(n, [&](int a, int b) { return span(a) > span(b); })},
  };
  Placement best;
  if (n == 0) return best;
  std::vector<int> order;
  for (const Candidate& candidate : candidates) {
    Placement placement = FirstFit(lifetimes, conflicts, candidate.order);
    if (!best.strategy.empty() && placement.total_bytes >= best.total_bytes) continue;
    best = std::move(placement);
    best.strategy = candidate.name;
    order = candidate.order;
  }
  const int64_t bound = LowerBound(lifetimes);
  uint32_t random =
      1;  // Numerical Recipes' linear congruential generator: the same sequence everywhere
  const auto next = [&](size_t limit) {
    random = random * 1664525u + 1013904223u;
    return static_cast<size_t>(random >> 8) % limit;
  };
  const int steps = n > 1 && n <= kMaxHillClimbingBuffers ? kHillClimbingSteps : 0;
  for (int step = 0; step < steps && best.total_bytes > bound; ++step) {
    std::vector<int> changed = order;
    std::swap(changed[next(n)], changed[next(n)]);
    Placement placement = FirstFit(lifetimes, conflicts, changed);
    if (placement.total_bytes > best.total_bytes) continue;
    if (placement.total_bytes < best.total_bytes)
      placement.strategy = "hill climbing";
    else
      placement.strategy = best.strategy;
    best = std::move(placement);
    order = std::move(changed);
  }
  return best;
}

}  // namespace kiln
