// SPDX-License-Identifier: Apache-2.0
// Contract: puts sets of nodes of a graph into groups.
#ifndef KILN_COMPILER_EXTERNAL_CONTRACT_H_
#define KILN_COMPILER_EXTERNAL_CONTRACT_H_

#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {

struct Cluster {
  std::vector<NodeId> nodes;  // ascending
  Attrs attrs;                // of the group
  // Subsets of `nodes` that are groups inside of the group.
  std::vector<Cluster> inner = {};
};

// Every cluster becomes one node. Constants that it reads are in its body; its inputs are the other
// values that it reads, each once; its outputs those that are read outside of it. Clusters are
// disjoint, and no path leaves one and comes back, not even through other clusters.
Graph Contract(const Graph& graph, const std::vector<Cluster>& clusters);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_CONTRACT_H_
