// SPDX-License-Identifier: Apache-2.0
// Multiply-accumulates (MACs) of convolutions, dense layers and matrix products.
#ifndef KILN_TOOLS_KILN_MACS_H_
#define KILN_TOOLS_KILN_MACS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/call/call.h"
#include "compiler/graph/graph.h"

namespace kiln::tools {

// Returns the MACs of a node of a typed graph: summed products with weights, including those with
// padding. nullopt for an operator without such sums.
std::optional<int64_t> MacsOfNode(const Graph& graph, const Node& node);

// Returns the MACs of the functions that compute a fused graph, keyed by function. Functions
// without MACs are left out. `calls` are the graph's calls, in order.
std::map<std::string, int64_t> MacsOfCalls(const Graph& fused, const std::vector<Call>& calls);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MACS_H_
