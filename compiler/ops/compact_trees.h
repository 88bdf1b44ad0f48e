// SPDX-License-Identifier: Apache-2.0
// Decision trees as compact tables for a walk without branches:
//
//   entry = roots[tree];
//   for each step of the tree: entry = left[entry] + (row[columns[entry]] > keys[entry]);
//   reached = leaves[entry];
//
// The two children of a node are neighbors. A leaf is its own left child and no number exceeds its
// key, so that a walk stays at the leaf that it has reached. Numbers are compared by integer keys
// (order_key.h), which need no special case for NaN. One spare entry follows the last one, so that
// the entry after any child can be read.
#ifndef KILN_COMPILER_OPS_COMPACT_TREES_H_
#define KILN_COMPILER_OPS_COMPACT_TREES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/base/tensor.h"

namespace kiln {

struct CompactTrees {
  std::vector<int64_t> left, columns, keys, leaves;  // one element per entry
  std::vector<int64_t> roots;                        // the entry of each tree's root
  std::vector<int64_t> depths;                       // the steps of each tree's longest walk
};

// Converts the tables of the operator decision_trees, which must be constants and in range. With
// its attribute `missing`, a node that sends NaN to the first child reads column `width` + its
// feature. Nothing if a walk is longer than `depth`, or if so many nodes are shared that the tables
// would grow to several times their size.
std::optional<CompactTrees> MakeCompactTrees(const Tensor& features, const Tensor& thresholds,
                                             const Tensor& children, const Tensor& roots,
                                             int64_t width, int64_t depth);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_COMPACT_TREES_H_
