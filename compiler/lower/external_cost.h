// SPDX-License-Identifier: Apache-2.0
// The cost of an external subgraph, for which Kiln makes no kernel.
#ifndef KILN_COMPILER_LOWER_EXTERNAL_COST_H_
#define KILN_COMPILER_LOWER_EXTERNAL_COST_H_

#include <optional>

#include "compiler/graph/graph.h"
#include "compiler/loop/cost.h"

namespace kiln {

// The operations of the kernels that the operators of `body` would be, those of its groups too; the
// bytes of its inputs, outputs and constants. Nothing if Kiln has no code for one of the operators.
std::optional<loop::Cost> CostOfExternal(const Graph& body);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_EXTERNAL_COST_H_
