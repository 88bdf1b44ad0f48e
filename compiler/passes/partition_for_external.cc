// SPDX-License-Identifier: Apache-2.0
// PartitionForExternal: gives subgraphs to external code generators, as the partitioner of the
// context decides (compiler/external/partition.h). It runs before the layout changes, so that
// generators see operators as the model has them.
#include "compiler/passes/pass.h"

namespace kiln {

absl::StatusOr<Graph> PartitionForExternal(const Graph& graph, const PassContext& context) {
  if (context.partition == nullptr) return graph;
  return context.partition(graph);
}

}  // namespace kiln
