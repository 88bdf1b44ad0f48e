// SPDX-License-Identifier: Apache-2.0
// The loops that walk compact trees.
#ifndef KILN_COMPILER_OPS_WALK_TREES_H_
#define KILN_COMPILER_OPS_WALK_TREES_H_

#include "compiler/ops/compact_trees.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// Defines output 0 of decision_trees, the leaf that each sample reaches in each tree, from its input 0, the
// samples.
void WalkCompactTrees(StageBuilder& b, const CompactTrees& trees);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_WALK_TREES_H_
