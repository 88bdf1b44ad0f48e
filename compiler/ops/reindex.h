// SPDX-License-Identifier: Apache-2.0
// Reads a tensor in another shape, with the elements in the same order.
#ifndef KILN_COMPILER_OPS_REINDEX_H_
#define KILN_COMPILER_OPS_REINDEX_H_

#include "compiler/ops/stage_builder.h"

namespace kiln {

// Returns the index into row-major `from` of the element at `index` of row-major `to`.
// Dimensions that both shapes share keep their index: reading (2, 3, 4) as (6, 4)
// divides only the first index.
Indices Reindexed(const Indices& index, const Shape& to, const Shape& from);

// Defines output 0 with the elements of input 0 in the same order.
absl::Status LowerReindex(StageBuilder& b);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_REINDEX_H_
