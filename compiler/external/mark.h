// SPDX-License-Identifier: Apache-2.0
// Mark: which generator takes which node, by the generators' patterns and tables of operators.
#ifndef KILN_COMPILER_EXTERNAL_MARK_H_
#define KILN_COMPILER_EXTERNAL_MARK_H_

#include <string>
#include <vector>

#include "compiler/external/external_codegen.h"
#include "compiler/graph/graph.h"

namespace kiln {

// What one generator takes as one: a match of a pattern, or a single operator.
struct Mark {
  int codegen = -1;           // which of the generators
  std::string pattern;        // name of the pattern; empty: a single operator
  std::vector<NodeId> nodes;  // ascending
};

// A generator that comes earlier takes first, its patterns in their order before its operators. A
// node whose value does not depend on the graph's inputs is nobody's, nor is one that is a group.
std::vector<Mark> MarkNodes(const Graph& graph,
                            const std::vector<const ExternalCodegen*>& codegens);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_MARK_H_
