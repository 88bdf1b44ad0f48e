// SPDX-License-Identifier: Apache-2.0
// Lowers decision_trees with compact trees.
#ifndef KILN_COMPILER_OPS_WALK_TREES_H_
#define KILN_COMPILER_OPS_WALK_TREES_H_

#include "compiler/ops/compact_trees.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// Defines output 0 of decision_trees from its input 0, the samples: the leaf that each
// sample reaches in each tree.
void WalkCompactTrees(StageBuilder& b, const CompactTrees& trees);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_WALK_TREES_H_
