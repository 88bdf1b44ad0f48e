// SPDX-License-Identifier: Apache-2.0
// The cost of an external subgraph, for which Kiln makes no kernel.
#ifndef KILN_COMPILER_LOWER_EXTERNAL_COST_H_
#define KILN_COMPILER_LOWER_EXTERNAL_COST_H_

#include <optional>

#include "compiler/graph/graph.h"
#include "compiler/loop/cost.h"

namespace kiln {

// Returns the operations of the kernels for the operators of `body`, including its groups, and the
// bytes of its inputs, outputs and constants. Returns nothing if Kiln has no code for one of the
// operators.
std::optional<loop::Cost> CostOfExternal(const Graph& body);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_EXTERNAL_COST_H_
