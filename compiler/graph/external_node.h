// SPDX-License-Identifier: Apache-2.0
// Accessors for nodes that are subgraphs of an external code generator. In a graph each is a group
// with Compiler="<generator>" and global_symbol="<function>".
#ifndef KILN_COMPILER_GRAPH_EXTERNAL_NODE_H_
#define KILN_COMPILER_GRAPH_EXTERNAL_NODE_H_

#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"

namespace kiln {

// Returns the generator of an external subgraph. Empty for every other node.
inline absl::string_view ExternalCompiler(const Node& node) {
  if (!node.is_group()) return "";
  const auto* name = std::get_if<std::string>(&node.attrs.Get("Compiler").value);
  return name == nullptr ? absl::string_view() : absl::string_view(*name);
}

// Returns the function that computes the subgraph. Empty if it has no name yet.
inline absl::string_view ExternalSymbol(const Node& node) {
  const auto* name = std::get_if<std::string>(&node.attrs.Get("global_symbol").value);
  return name == nullptr ? absl::string_view() : absl::string_view(*name);
}

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_EXTERNAL_NODE_H_
