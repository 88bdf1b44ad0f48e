// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/strips.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kiln {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

// Makes strips from the first to the last. The rows of each node in a strip are in proportion to
// the strip's rows of the last output, or fewer if the rows that they read do not exist yet.
class StripMaker {
 public:
  StripMaker(const Region& region, int64_t rows_per_strip) : region_(region) {
    const size_t n = region.nodes.size();
    const int64_t last_rows = region.nodes.back()->rows();
    // Rounded to nearest, so that a node with a few more rows does not run ahead of the others.
    for (const RowNode* node : region.nodes) {
      const int64_t step = (node->rows() * rows_per_strip + last_rows / 2) / last_rows;
      steps_.push_back(std::max<int64_t>(step, 1));
    }
    computed_.assign(n, 0);
    made_.assign(n, 0);
    first_.assign(n, 0);
    for (size_t i = 0; i < n; ++i) known_ = known_ && FindFirst(i);
  }

  // Nothing if rows would be computed only from padding that is not made.
  std::optional<Strips> Run() {
    if (!known_) return std::nullopt;
    Strips strips;
    while (computed_.back() < region_.nodes.back()->rows()) {
      const std::vector<int64_t> before = computed_;
      std::vector<NodeStrip>& strip = strips.emplace_back(region_.nodes.size());
      for (size_t i = 0; i < strip.size(); ++i) Compute(i, strip);
      if (computed_ == before) return std::nullopt;
    }
    Carry(strips);
    return strips;
  }

 private:
  // Calls f(producer, rows) for the rows within the region that are read to compute these rows of
  // node i. Returns false if rows would be computed from padding only.
  template <typename F>
  bool ForEachRead(size_t i, Rows rows, const F& f) const {
    const std::optional<std::vector<Rows>> needed = region_.nodes[i]->Needed(rows);
    if (!needed.has_value()) return false;
    for (size_t k = 0; k < needed->size(); ++k) {
      const int producer = region_.Producer(region_.nodes[i]->inputs()[k]);
      if (producer >= 0) f(static_cast<size_t>(producer), (*needed)[k]);
    }
    return true;
  }

  // Adds the padding before their first rows that node i reads of its producers.
  bool FindFirst(size_t i) {
    return ForEachRead(i, {0, region_.nodes[i]->rows()},
                       [&](size_t p, Rows read) { first_[p] = std::min(first_[p], read.begin); });
  }

  // True if all rows that are read to compute these rows of node i exist.
  bool CanCompute(size_t i, Rows rows) const {
    bool can = true;
    const bool known = ForEachRead(i, rows, [&](size_t p, Rows read) {
      can = can && (read.end <= computed_[p] || computed_[p] == region_.nodes[p]->rows());
    });
    return known && can;
  }

  // Computes the next rows of node i. Padding before the first rows is made with them, and padding
  // after the last rows when it is read.
  void Compute(size_t i, std::vector<NodeStrip>& strip) {
    const int64_t rows = region_.nodes[i]->rows(), begin = computed_[i];
    int64_t& end = computed_[i];
    // A row that reads only padding is computed together with others.
    end = std::min(begin + steps_[i], rows);
    while (end > begin && !CanCompute(i, {begin, end})) --end;
    strip[i].computed = strip[i].made = {begin, end};
    if (begin == 0 && end > 0) strip[i].made.begin = first_[i];
    if (begin == end) return;
    ForEachRead(i, {begin, end}, [&](size_t p, Rows read) {
      Rows& made = strip[p].made;
      if (made.count() == 0) made = strip[p].computed = {made_[p], made_[p]};
      made.end = made_[p] = std::max(made_[p], read.end);
    });
    made_[i] = end;
  }

  // Sets the rows that strips leave to the next one: from the first row that
  // it or a later one reads.
  void Carry(Strips& strips) const {
    std::vector<int64_t> first_read(region_.nodes.size(), kNone);
    for (size_t k = strips.size(); k-- > 1;) {
      for (size_t i = 0; i < first_read.size(); ++i) {
        const Rows computed = strips[k][i].computed;
        if (computed.count() == 0) continue;
        ForEachRead(i, computed, [&](size_t p, Rows read) {
          first_read[p] = std::min(first_read[p], read.begin);
        });
      }
      for (size_t p = 0; p < first_read.size(); ++p) {
        const int64_t end = EndBefore(strips, k, p);
        if (first_read[p] < end) strips[k][p].carried = {first_read[p], end};
      }
    }
  }

  // The end of the rows of node i that the strips before strip k make; the lowest
  // number if they make none.
  static int64_t EndBefore(const Strips& strips, size_t k, size_t i) {
    while (k-- > 0) {
      if (strips[k][i].made.count() > 0) return strips[k][i].made.end;
    }
    return std::numeric_limits<int64_t>::min();
  }

  const Region& region_;
  std::vector<int64_t> steps_;     // Per node: the most rows that a strip computes.
  std::vector<int64_t> computed_;  // Per node: the number of rows computed so far.
  std::vector<int64_t> made_;      // Per node: the same with padding after the last row.
  std::vector<int64_t> first_;     // Per node: 0, or the first row of padding that others read.
  bool known_ = true;
};

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

std::optional<Strips> MakeStrips(const Region& region, int64_t rows_per_strip) {
  return StripMaker(region, rows_per_strip).Run();
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
        const auto needed = region.nodes[i]->Needed(strip.computed);
        for (size_t in = 0; needed.has_value() && in < needed->size(); ++in) {
          const ValueId input = region.nodes[i]->inputs()[in];
          if (region.Producer(input) < 0) now += (*needed)[in].count() * RowBytes(graph, input);
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
