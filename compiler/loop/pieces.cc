// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/pieces.h"

#include <algorithm>
#include <cstdint>
#include <set>

namespace kiln::loop {
namespace {

constexpr size_t kMaxPieces = 16;
// A split must decide guards in at least this part of a function's work.
constexpr double kMinGain = 1.0 / 32;

int64_t Size(Range values) { return values.hi - values.lo + 1; }

// Values of the range, except its first, at which a piece may begin.
std::set<int64_t> SplitPoints(const std::vector<Threshold>& thresholds, Range values) {
  std::set<int64_t> points;
  auto insert = [&](int64_t point) {
    if (point > values.lo && point <= values.hi) points.insert(point);
  };
  for (const Threshold& threshold : thresholds) {
    const auto [undecided_from, decided_from] = threshold.FindPoints();
    if (threshold.Undecided(values) == 0 || undecided_from > decided_from) continue;
    insert(undecided_from);
    insert(decided_from);
  }
  // A threshold with a choice of points uses an existing point if possible.
  for (const Threshold& threshold : thresholds) {
    const auto [undecided_from, decided_from] = threshold.FindPoints();
    if (threshold.Undecided(values) == 0 || undecided_from <= decided_from) continue;
    auto it = points.lower_bound(decided_from);
    if (it == points.end() || *it > undecided_from) insert(decided_from);
  }
  return points;
}

}  // namespace

Range Largest(const Pieces& pieces) {
  return *std::max_element(pieces.begin(), pieces.end(),
                           [](Range a, Range b) { return Size(a) < Size(b); });
}

double Part(const Pieces& pieces, Range piece) {
  return static_cast<double>(Size(piece)) /
         static_cast<double>(pieces.back().hi - pieces.front().lo + 1);
}

double BesideLargest(const Pieces& pieces) { return 1 - Part(pieces, Largest(pieces)); }

Pieces SplitAt(const std::vector<Threshold>& thresholds, Range values, double share) {
  const std::set<int64_t> points = SplitPoints(thresholds, values);
  Pieces pieces;
  int64_t from = values.lo;
  for (int64_t point : points) {
    pieces.push_back({from, point - 1});
    from = point;
  }
  pieces.push_back({from, values.hi});
  if (pieces.size() > kMaxPieces) {
    const Range largest = Largest(pieces);
    pieces = {{values.lo, largest.lo - 1}, largest, {largest.hi + 1, values.hi}};
    std::erase_if(pieces, [](Range piece) { return piece.lo > piece.hi; });
  }
  double gain = 0;
  for (const Threshold& threshold : thresholds) {
    double left = 0;
    for (const Range& piece : pieces) {
      left += threshold.Undecided(piece) * static_cast<double>(Size(piece));
    }
    gain = std::max(gain, threshold.Undecided(values) - left / static_cast<double>(Size(values)));
  }
  if (gain * share < kMinGain) return {values};
  return pieces;
}

}  // namespace kiln::loop
