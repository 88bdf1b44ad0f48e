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

// Of a node of a typed graph: products with weights that are summed, those with padding included.
// nullopt of an operator that sums no products.
std::optional<int64_t> MacsOfNode(const Graph& graph, const Node& node);

// Of the functions that compute a fused graph, by name; those without MACs are left out. `calls`
// are the graph's, in order.
std::map<std::string, int64_t> MacsOfCalls(const Graph& fused, const std::vector<Call>& calls);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MACS_H_
