// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/strips.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kiln {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

// What one strip computes of each node, and the first row that it reads of each output.
struct OneStrip {
  std::vector<Rows> made;
  std::vector<int64_t> first_read;
};

// `ends` has behind which row the strips before have ended, and is moved on.
std::optional<OneStrip> MakeStrip(const Region& region, int64_t end, std::vector<int64_t>& ends) {
  const size_t n = region.nodes.size();
  OneStrip strip = {std::vector<Rows>(n), std::vector<int64_t>(n, kNone)};
  const std::vector<int64_t> begins = ends;
  ends[n - 1] = end;
  for (size_t i = n; i-- > 0;) {
    Rows& made = strip.made[i];
    made = {begins[i], ends[i]};
    if (made.count() == 0) continue;
    // Rows that nothing reads, between windows that leave some out.
    if (strip.first_read[i] != kNone) made.begin = std::max(made.begin, strip.first_read[i]);
    const std::optional<std::vector<Rows>> needed = region.nodes[i]->Needed(made);
    if (!needed.has_value()) return std::nullopt;
    for (size_t k = 0; k < needed->size(); ++k) {
      const int producer = region.Producer(region.nodes[i]->inputs()[k]);
      if (producer < 0) continue;
      const auto p = static_cast<size_t>(producer);
      ends[p] = std::max(ends[p], (*needed)[k].end);
      strip.first_read[p] = std::min(strip.first_read[p], (*needed)[k].begin);
    }
  }
  return strip;
}

int64_t RowBytes(const Graph& graph, ValueId value) {
  const TensorType& type = graph.type(value);
  return type.num_bytes() / type.shape[kRowAxis];
}

}  // namespace

int Region::Producer(ValueId value) const {
  const auto found = std::find(outputs.begin(), outputs.end(), value);
  return found == outputs.end() ? -1 : static_cast<int>(found - outputs.begin());
}

Rows NodeStrip::held() const {
  if (carried.count() == 0) return made;
  return {carried.begin, made.count() == 0 ? carried.end : made.end};
}

std::optional<Strips> MakeStrips(const Region& region, int64_t rows, int64_t rows_per_strip) {
  const size_t n = region.nodes.size();
  std::vector<int64_t> ends(n, 0);
  std::vector<OneStrip> made;
  for (int64_t end = rows_per_strip; end < rows + rows_per_strip; end += rows_per_strip) {
    std::optional<OneStrip> strip = MakeStrip(region, std::min(end, rows), ends);
    if (!strip.has_value()) return std::nullopt;
    made.push_back(*std::move(strip));
  }
  Strips strips(made.size(), std::vector<NodeStrip>(n));
  for (size_t i = 0; i < n; ++i) {
    int64_t first_read = kNone;  // from here on
    for (size_t k = made.size(); k-- > 0;) {
      first_read = std::min(first_read, made[k].first_read[i]);
      NodeStrip& strip = strips[k][i];
      strip.made = made[k].made[i];
      // Where strip k - 1 has ended.
      int64_t end = 0;
      for (size_t before = 0; before < k; ++before) end = std::max(end, made[before].made[i].end);
      if (first_read < end) strip.carried = {first_read, end};
    }
  }
  return strips;
}

std::vector<std::vector<int>> LastReads(const Region& region) {
  std::vector<std::vector<int>> result(region.nodes.size());
  std::vector<int> last(region.nodes.size(), -1);
  for (size_t i = 0; i < region.nodes.size(); ++i) {
    for (ValueId input : region.nodes[i]->inputs()) {
      const int producer = region.Producer(input);
      if (producer >= 0) last[static_cast<size_t>(producer)] = static_cast<int>(i);
    }
  }
  for (size_t p = 0; p < last.size(); ++p) {
    if (last[p] >= 0) result[static_cast<size_t>(last[p])].push_back(static_cast<int>(p));
  }
  return result;
}

int64_t BytesOfStrips(const Graph& graph, const Region& region, const Strips& strips) {
  const size_t n = region.nodes.size();
  const std::vector<std::vector<int>> last_reads = LastReads(region);
  std::vector<int64_t> alive(n, 0);
  int64_t most = 0;
  for (size_t k = 0; k < strips.size(); ++k) {
    for (size_t i = 0; i < n; ++i) {
      const NodeStrip& strip = strips[k][i];
      if (strip.made.count() > 0) {
        const int64_t bytes = strip.held().count() * RowBytes(graph, region.outputs[i]);
        int64_t now = std::accumulate(alive.begin(), alive.end(), bytes);
        const std::vector<Rows> needed = *region.nodes[i]->Needed(strip.made);
        for (size_t in = 0; in < needed.size(); ++in) {
          const ValueId input = region.nodes[i]->inputs()[in];
          if (region.Producer(input) < 0) now += needed[in].count() * RowBytes(graph, input);
        }
        most = std::max(most, now);
        if (i + 1 < n) alive[i] = bytes;
      }
      for (int p : last_reads[i]) {
        const auto producer = static_cast<size_t>(p);
        alive[producer] = k + 1 == strips.size() ? 0
                                                 : strips[k + 1][producer].carried.count() *
                                                       RowBytes(graph, region.outputs[producer]);
      }
    }
  }
  return most;
}

}  // namespace kiln
