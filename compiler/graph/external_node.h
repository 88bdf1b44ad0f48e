// SPDX-License-Identifier: Apache-2.0
// Nodes that are subgraphs of external code generators, as they stand in a graph: a group with
// Compiler="<generator>" and global_symbol="<function>".
#ifndef KILN_COMPILER_GRAPH_EXTERNAL_NODE_H_
#define KILN_COMPILER_GRAPH_EXTERNAL_NODE_H_

#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"

namespace kiln {

// The generator of an external subgraph; empty for every other node.
inline absl::string_view ExternalCompiler(const Node& node) {
  if (!node.is_group()) return "";
  const auto* name = std::get_if<std::string>(&node.attrs.Get("Compiler").value);
  return name == nullptr ? absl::string_view() : absl::string_view(*name);
}

// The function that computes it; empty where there is no name yet.
inline absl::string_view ExternalSymbol(const Node& node) {
  const auto* name = std::get_if<std::string>(&node.attrs.Get("global_symbol").value);
  return name == nullptr ? absl::string_view() : absl::string_view(*name);
}

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_EXTERNAL_NODE_H_
