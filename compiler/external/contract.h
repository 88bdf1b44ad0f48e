// SPDX-License-Identifier: Apache-2.0
// Contract: replaces sets of nodes of a graph by groups.
#ifndef KILN_COMPILER_EXTERNAL_CONTRACT_H_
#define KILN_COMPILER_EXTERNAL_CONTRACT_H_

#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {

struct Cluster {
  std::vector<NodeId> nodes;  // ascending
  Attrs attrs;                // attributes of the group
  // Subsets of `nodes` that become groups inside of the group.
  std::vector<Cluster> inner = {};
};

// Replaces every cluster by one node. Constants that the cluster reads are in the node's body. The
// inputs are the other values that it reads, each once. The outputs are its values that are read
// outside of it. Clusters must be disjoint. No path may leave a cluster and return to it, not even
// through other clusters.
Graph Contract(const Graph& graph, const std::vector<Cluster>& clusters);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_CONTRACT_H_
