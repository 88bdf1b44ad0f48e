// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/compact_trees.h"

#include <algorithm>
#include <cstddef>

#include "compiler/ops/order_key.h"

namespace kiln {
namespace {

// Limit on entries per node or root of the operator's tables. A node that several parents
// share gets an entry for each.
constexpr int64_t kMostEntriesPerNode = 4;

// A node (`child` >= 0) or leaf of the operator's tables that becomes an entry.
struct Pending {
  int64_t child;
  size_t entry;
  int64_t depth;
};

}  // namespace

std::optional<CompactTrees> MakeCompactTrees(const Tensor& features, const Tensor& thresholds,
                                             const Tensor& children, const Tensor& roots,
                                             int64_t width, int64_t depth) {
  const DType dtype = thresholds.type().dtype;
  const int64_t trees = roots.type().num_elements();
  const int64_t most_entries = kMostEntriesPerNode * (thresholds.type().num_elements() + trees);
  CompactTrees result;
  const auto add_entries = [&](size_t count) {
    const size_t first = result.left.size();
    for (std::vector<int64_t>* table :
         {&result.left, &result.columns, &result.keys, &result.leaves}) {
      table->resize(first + count);
    }
    return first;
  };
  for (int64_t tree = 0; tree < trees; ++tree) {
    std::vector<Pending> pending = {{roots.AsInt(tree), add_entries(1), 0}};
    result.roots.push_back(static_cast<int64_t>(pending[0].entry));
    int64_t deepest = 0;
    // Level by level, so that the entries of the first levels, which most walks read, lie together.
    for (size_t next = 0; next < pending.size(); ++next) {
      const Pending now = pending[next];
      if (now.child < 0) {
        result.left[now.entry] = static_cast<int64_t>(now.entry);
        result.keys[now.entry] = OrderKeyType(dtype).MaxInt();
        result.leaves[now.entry] = -1 - now.child;
        deepest = std::max(deepest, now.depth);
        continue;
      }
      if (now.depth == depth) return std::nullopt;
      if (static_cast<int64_t>(result.left.size()) > most_entries) return std::nullopt;
      const size_t first = add_entries(2);
      result.left[now.entry] = static_cast<int64_t>(first);
      const int64_t feature = features.AsInt(now.child);
      result.columns[now.entry] = feature < 0 ? width - 1 - feature : feature;
      // A NaN as threshold: no number is <= NaN.
      const double threshold = thresholds.AsDouble(now.child);
      result.keys[now.entry] =
          threshold != threshold ? OrderKeyType(dtype).MinInt() : OrderKey(threshold, dtype);
      pending.push_back({children.AsInt(2 * now.child), first, now.depth + 1});
      pending.push_back({children.AsInt(2 * now.child + 1), first + 1, now.depth + 1});
    }
    result.depths.push_back(deepest);
  }
  add_entries(1);
  return result;
}

}  // namespace kiln
