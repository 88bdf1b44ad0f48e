// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/place_overlapping.h"

#include <algorithm>
#include <optional>

namespace kiln {
namespace {

// An output whose lifetime begins in a call, and an input of the call that nothing reads later.
struct OverlappingCandidate {
  int call;
  int input_number, output_number;  // index among the inputs and among the outputs of the call
  int input, output;                // lifetimes
};

std::vector<OverlappingCandidate> FindCandidates(const Plan& plan, const std::vector<int>& placed) {
  std::vector<int> lifetime_of(plan.buffers.size(), -1);
  for (size_t i = 0; i < placed.size(); ++i) {
    lifetime_of[static_cast<size_t>(placed[i])] = static_cast<int>(i);
  }
  std::vector<OverlappingCandidate> candidates;
  for (size_t c = 0; c < plan.calls.size(); ++c) {
    const PlanCall& call = plan.calls[c];
    if (call.function.empty()) continue;
    std::vector<int> roots;
    for (int arg : call.args) roots.push_back(plan.Root(arg));
    // Returns the lifetime of an argument that shares its memory with no other argument, or -1.
    const auto lifetime = [&](size_t arg) {
      const bool alone = std::count(roots.begin(), roots.end(), roots[arg]) == 1;
      return alone ? lifetime_of[static_cast<size_t>(roots[arg])] : -1;
    };
    const auto root = [&](size_t arg) -> const PlanBuffer& {
      return plan.buffers[static_cast<size_t>(roots[arg])];
    };
    const int number = static_cast<int>(c);
    const auto num_inputs = static_cast<size_t>(call.num_inputs());
    for (size_t o = num_inputs; o < roots.size(); ++o) {
      if (lifetime(o) < 0 || root(o).first_call != number) continue;
      for (size_t i = 0; i < num_inputs; ++i) {
        if (lifetime(i) < 0 || root(i).last_call != number) continue;
        candidates.push_back({number, static_cast<int>(i), static_cast<int>(o - num_inputs),
                              lifetime(i), lifetime(o)});
      }
    }
  }
  return candidates;
}

// Returns the pairs of calls that need more memory than the minimum that any plan takes.
std::vector<OverlapPair> FindPairs(const Plan& plan, const std::vector<Lifetime>& lifetimes,
                                   const std::vector<int>& placed,
                                   const OverlapFinder& find_overlap) {
  const std::vector<OverlappingCandidate> candidates = FindCandidates(plan, placed);
  if (candidates.empty()) return {};
  const std::vector<int64_t> alive = AliveBytes(lifetimes);
  std::vector<int64_t> least = alive;
  for (const OverlappingCandidate& c : candidates) {
    least[static_cast<size_t>(c.call) + 1] -=
        std::min(lifetimes[static_cast<size_t>(c.input)].bytes,
                 lifetimes[static_cast<size_t>(c.output)].bytes);
  }
  const int64_t least_of_all = *std::max_element(least.begin(), least.end());
  std::vector<OverlapPair> pairs;
  for (const OverlappingCandidate& c : candidates) {
    const auto call = static_cast<size_t>(c.call);
    if (alive[call + 1] <= least_of_all) continue;
    const auto overlap = find_overlap(plan.calls[call], c.input_number, c.output_number);
    if (overlap.has_value()) pairs.push_back({c.output, c.input, *overlap});
  }
  return pairs;
}

}  // namespace

Placement PlaceOverlapping(const std::vector<Lifetime>& lifetimes,
                           const std::vector<PoolShape>& pools, const std::vector<int>& placed,
                           const OverlapFinder& find_overlap, Effort effort, Plan& plan) {
  plan.overlaps.clear();
  plan.overlap_saves_bytes = 0;
  Placement apart = Place(lifetimes, pools, {}, effort);
  if (find_overlap == nullptr) return apart;
  const std::vector<OverlapPair> pairs = FindPairs(plan, lifetimes, placed, find_overlap);
  if (pairs.empty()) return apart;
  Placement best = Place(lifetimes, pools, pairs, effort);
  if (!IsBetter(lifetimes, best, apart)) return apart;
  const auto lifetime = [&](int i) -> const Lifetime& { return lifetimes[static_cast<size_t>(i)]; };
  const std::vector<int64_t> alive = AliveBytes(lifetimes);
  std::vector<OverlapPair> needed = pairs;
  std::erase_if(needed, [&](const OverlapPair& pair) {
    return alive[static_cast<size_t>(lifetime(pair.input).last)] <= best.total_bytes;
  });
  if (Placement fewer = Place(lifetimes, pools, needed, effort);
      !IsBetter(lifetimes, best, fewer)) {
    best = std::move(fewer);
  }
  for (const OverlapPair& pair : pairs) {
    const auto output = static_cast<size_t>(pair.output), input = static_cast<size_t>(pair.input);
    const int64_t at = best.offsets[output], into = best.offsets[input];
    if (best.pools[output] < 0 || best.pools[output] != best.pools[input] ||
        at + lifetimes[output].bytes <= into || into + lifetimes[input].bytes <= at) {
      continue;
    }
    plan.overlaps.push_back({lifetimes[output].first - 1, placed[input], placed[output]});
  }
  plan.overlap_saves_bytes = apart.total_bytes - best.total_bytes;
  return best;
}

}  // namespace kiln
