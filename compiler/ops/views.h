// SPDX-License-Identifier: Apache-2.0
// Values that are the same memory under another shape.
#ifndef KILN_COMPILER_OPS_VIEWS_H_
#define KILN_COMPILER_OPS_VIEWS_H_

#include "compiler/graph/graph.h"

namespace kiln {

// What `value` is a view of, through others; itself for most.
ValueId Viewed(const Graph& graph, ValueId value);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_VIEWS_H_
