// SPDX-License-Identifier: Apache-2.0
// LiveBytes: the bytes that are alive at each of a number of times, and their maximum. Memory can
// be added and removed. Add takes time logarithmic in the number of times.
//
//   LiveBytes live(num_nodes);
//   live.Add(3, 7, bytes);   // alive at times 3 to 7
//   live.peak();
#ifndef KILN_COMPILER_LOWER_LIVE_BYTES_H_
#define KILN_COMPILER_LOWER_LIVE_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln {

class LiveBytes {
 public:
  explicit LiveBytes(size_t num_times) {
    while (leaves_ < num_times) leaves_ *= 2;
    added_.assign(2 * leaves_, 0);
    peak_.assign(2 * leaves_, 0);
  }

  // Adds `bytes`, which may be negative, at times `first` to `last`.
  void Add(size_t first, size_t last, int64_t bytes) { Add(1, 0, leaves_, first, last + 1, bytes); }

  // The maximum over all times; at least 0.
  int64_t peak() const { return peak_[1]; }

 private:
  // Adds `bytes` to the part of the tree below `node`, whose times are [begin, end).
  void Add(size_t node, size_t begin, size_t end, size_t first, size_t behind, int64_t bytes) {
    if (behind <= begin || end <= first) return;
    if (first <= begin && end <= behind) {
      added_[node] += bytes;
      peak_[node] += bytes;
      return;
    }
    const size_t middle = begin + (end - begin) / 2;
    Add(2 * node, begin, middle, first, behind, bytes);
    Add(2 * node + 1, middle, end, first, behind, bytes);
    peak_[node] = added_[node] + std::max(peak_[2 * node], peak_[2 * node + 1]);
  }

  size_t leaves_ = 1;
  // A binary tree as an array with the root at index 1. added_: bytes that were added at all times
  // of a node. peak_: the maximum over the times of a node, of the bytes added at the node and
  // below.
  std::vector<int64_t> added_, peak_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_LIVE_BYTES_H_
