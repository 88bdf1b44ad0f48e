// SPDX-License-Identifier: Apache-2.0
// Partition: gives subgraphs of a model to external code generators.
//
//   KILN_ASSIGN_OR_RETURN(Graph partitioned,
//                         Partition(graph, "my_mod", {FindExternalCodegen("csource")}));
//
// Each subgraph becomes a node whose body it is, with the attributes Compiler="csource" and
// global_symbol="tvmgen_my_mod_csource_main_0". It is as large as it can be (regions.h), and no
// other operator is between two of its own.
#ifndef KILN_COMPILER_EXTERNAL_PARTITION_H_
#define KILN_COMPILER_EXTERNAL_PARTITION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/external/external_codegen.h"
#include "compiler/graph/graph.h"

namespace kiln {

// The graph must be typed. Of several generators that take a node the first gets it. Subgraphs that
// the model brings along keep their generator, which must be linked, and get the names of this
// module.
absl::StatusOr<Graph> Partition(const Graph& graph, const std::string& module_name,
                                const std::vector<const ExternalCodegen*>& codegens);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_PARTITION_H_
