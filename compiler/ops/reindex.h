// SPDX-License-Identifier: Apache-2.0
// Reading a tensor under another shape with as many elements in the same order.
#ifndef KILN_COMPILER_OPS_REINDEX_H_
#define KILN_COMPILER_OPS_REINDEX_H_

#include "compiler/ops/stage_builder.h"

namespace kiln {

// The index into row-major `from` of the element that stands at `index` of row-major `to`.
// Dimensions that the shapes have in common stay as they are: (2, 3, 4) read as (6, 4) divides only
// the first index.
Indices Reindexed(const Indices& index, const Shape& to, const Shape& from);

// Output 0 holds the elements of input 0 in the same order.
absl::Status LowerReindex(StageBuilder& b);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_REINDEX_H_
