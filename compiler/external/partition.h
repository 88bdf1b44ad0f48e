// SPDX-License-Identifier: Apache-2.0
// Partition: assigns subgraphs of a model to external code generators.
//
//   KILN_ASSIGN_OR_RETURN(Graph partitioned,
//                         Partition(graph, "my_mod", {FindExternalCodegen("csource")}));
//
// Each subgraph becomes a node with the subgraph as its body, and the attributes Compiler="csource"
// and global_symbol="tvmgen_my_mod_csource_main_0". It is as large as possible (regions.h). No path
// between two of its operators leaves it.
#ifndef KILN_COMPILER_EXTERNAL_PARTITION_H_
#define KILN_COMPILER_EXTERNAL_PARTITION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/external/external_codegen.h"
#include "compiler/graph/graph.h"

namespace kiln {

// The graph must be typed. If several generators take a node, the first one gets it. Subgraphs that
// the model came with keep their generator, which must be linked, and get names of this module.
absl::StatusOr<Graph> Partition(const Graph& graph, const std::string& module_name,
                                const std::vector<const ExternalCodegen*>& codegens);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_PARTITION_H_
