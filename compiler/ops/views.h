// SPDX-License-Identifier: Apache-2.0
// Values that share the memory of another value under a different shape.
#ifndef KILN_COMPILER_OPS_VIEWS_H_
#define KILN_COMPILER_OPS_VIEWS_H_

#include "compiler/graph/graph.h"

namespace kiln {

// The value that `value` is a view of, directly or through other views; `value` if it is no view.
ValueId Viewed(const Graph& graph, ValueId value);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_VIEWS_H_
