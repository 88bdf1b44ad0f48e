// SPDX-License-Identifier: Apache-2.0
// Mark: assigns nodes to generators, by the generators' patterns and tables of operators.
#ifndef KILN_COMPILER_EXTERNAL_MARK_H_
#define KILN_COMPILER_EXTERNAL_MARK_H_

#include <string>
#include <vector>

#include "compiler/external/external_codegen.h"
#include "compiler/graph/graph.h"

namespace kiln {

// A unit that one generator takes: a match of a pattern, or a single operator.
struct Mark {
  int codegen = -1;           // index of the generator
  std::string pattern;        // name of the pattern; empty: a single operator
  std::vector<NodeId> nodes;  // ascending
};

// Earlier generators take nodes before later ones, and patterns of a generator, in their order,
// before its operators. Groups, and nodes that do not depend on the graph's inputs, are never
// marked.
std::vector<Mark> MarkNodes(const Graph& graph,
                            const std::vector<const ExternalCodegen*>& codegens);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_MARK_H_
