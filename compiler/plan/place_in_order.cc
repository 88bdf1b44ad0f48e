// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/place_in_order.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace kiln {
namespace {

// The gaps between the buffers of one pool. They end at the present end of the pool.
class Gaps {
 public:
  explicit Gaps(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Takes `bytes` bytes and returns their offset, or -1 if they do not fit within the limit.
  int64_t Take(int64_t bytes) {
    if (const auto it = by_size_.lower_bound({bytes, 0}); it != by_size_.end()) {
      const auto [size, offset] = *it;
      Erase(offset);
      if (size > bytes) Insert(offset + bytes, size - bytes);
      return offset;
    }
    // Extends the last gap.
    int64_t offset = end_;
    if (const auto last = by_offset_.rbegin();
        last != by_offset_.rend() && last->first + last->second == end_) {
      offset = last->first;
    }
    if (bytes > limit_bytes_ - offset) return -1;
    if (offset < end_) Erase(offset);
    end_ = offset + bytes;
    return offset;
  }

  void Give(int64_t offset, int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      const auto [begin, size] = *std::prev(next);
      if (begin + size == offset) {
        Erase(begin);
        offset = begin;
        bytes += size;
      }
    }
    next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && offset + bytes == next->first) {
      bytes += next->second;
      Erase(next->first);
    }
    Insert(offset, bytes);
  }

  int64_t end() const { return end_; }

 private:
  void Insert(int64_t offset, int64_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }

  void Erase(int64_t offset) {
    const auto it = by_offset_.find(offset);
    by_size_.erase({it->second, offset});
    by_offset_.erase(it);
  }

  const int64_t limit_bytes_;
  int64_t end_ = 0;
  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (bytes, offset)
};

}  // namespace

Placement PlaceInOrder(const std::vector<Lifetime>& lifetimes, const std::vector<PoolShape>& pools,
                       const std::vector<int>& preference) {
  Placement placement;
  placement.strategy = "in order of lifetimes";
  placement.pools.assign(lifetimes.size(), -1);
  placement.offsets.assign(lifetimes.size(), -1);
  const auto at = [&](int i) -> const Lifetime& { return lifetimes[static_cast<size_t>(i)]; };
  std::vector<int> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::tuple(at(a).first, -at(a).bytes) < std::tuple(at(b).first, -at(b).bytes);
  });
  std::vector<Gaps> gaps;
  for (const PoolShape& pool : pools) gaps.emplace_back(pool.limit_bytes);
  // Buffers that have a place, ordered by the end of their lifetimes.
  std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<>> alive;
  for (int i : order) {
    for (; !alive.empty() && alive.top().first < at(i).first; alive.pop()) {
      const int dead = alive.top().second;
      gaps[static_cast<size_t>(placement.pools[static_cast<size_t>(dead)])].Give(
          placement.offsets[static_cast<size_t>(dead)], at(dead).bytes);
    }
    int& pool = placement.pools[static_cast<size_t>(i)];
    for (int candidate : preference) {
      const int64_t offset = gaps[static_cast<size_t>(candidate)].Take(at(i).bytes);
      if (offset < 0) continue;
      pool = candidate;
      placement.offsets[static_cast<size_t>(i)] = offset;
      placement.cost +=
          static_cast<double>(at(i).traffic_bytes) / pools[static_cast<size_t>(candidate)].speed;
      alive.push({at(i).last, i});
      break;
    }
    if (pool < 0) placement.unplaced.push_back(i);
  }
  for (const Gaps& g : gaps) {
    placement.pool_bytes.push_back(g.end());
    placement.total_bytes += g.end();
  }
  std::sort(placement.unplaced.begin(), placement.unplaced.end());
  return placement;
}

}  // namespace kiln
