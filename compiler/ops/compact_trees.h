// SPDX-License-Identifier: Apache-2.0
// Decision trees as short tables for a walk without branches:
//
//   entry = roots[tree];
//   for each step of the tree: entry = left[entry] + (row[columns[entry]] > keys[entry]);
//   reached = leaves[entry];
//
// The children of a node are neighbors. A leaf is its own left child and never exceeds its key, so that a
// walk which has reached it stays. Numbers are compared by keys of integers (order_key.h), for which NaN
// needs no case of its own. Behind the last entry there is one more, so that the entry behind every child
// can be read.
#ifndef KILN_COMPILER_OPS_COMPACT_TREES_H_
#define KILN_COMPILER_OPS_COMPACT_TREES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/base/tensor.h"

namespace kiln {

struct CompactTrees {
  std::vector<int64_t> left, columns, keys, leaves;  // of each entry
  std::vector<int64_t> roots;                        // of each tree its entry
  std::vector<int64_t> depths;                       // of each tree the steps of its longest walk
};

// The trees of the operator decision_trees, whose tables are constants and in range. With `missing`, a
// node whose NaN goes to the first child reads the column `width` + its feature. None if a walk is longer
// than `depth`, or if trees share so many nodes that the tables would grow beyond several times.
std::optional<CompactTrees> MakeCompactTrees(const Tensor& features, const Tensor& thresholds,
                                             const Tensor& children, const Tensor& roots,
                                             int64_t width, int64_t depth);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_COMPACT_TREES_H_
