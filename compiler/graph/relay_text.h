// SPDX-License-Identifier: Apache-2.0
// Relay text 0.0.5, the text form of a Graph. See docs/relay_text.md.
//
//   KILN_ASSIGN_OR_RETURN(Graph g, ParseRelay(text, "model.relay", FindOpSchema));
//   std::string same = PrintRelay(g);   // Parse(Print(g)) == g
#ifndef KILN_COMPILER_GRAPH_RELAY_TEXT_H_
#define KILN_COMPILER_GRAPH_RELAY_TEXT_H_

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"

namespace kiln {

struct RelayParseOptions {
  // Shapes of inputs of @main, keyed by parameter name. They replace `?` dimensions.
  std::map<std::string, Shape, std::less<>> input_shapes;
};

// Parses a module and returns its @main. Calls of other global functions are inlined, unless the
// functions are Primitive or external. Outputs of nodes have the types given in the text, or none.
// Errors begin with "file:line:column: ".
absl::StatusOr<Graph> ParseRelay(absl::string_view text, absl::string_view file_name,
                                 const OpLookup& find_op, const RelayParseOptions& options = {});

struct PrintOptions {
  bool types = true;     // `/* ty=… */` after every call
  bool metadata = true;  // the #[metadata] section with the constants; without it, the text has
                         // only references to them and cannot be read back
  // Returns the text of an attribute whose value is the default, for readers that need it written.
  // Absent: the attribute is omitted. If the function is empty, all defaults are omitted.
  std::function<std::optional<std::string>(absl::string_view op, const AttrSchema& attr)>
      written_default;
};

std::string PrintRelay(const Graph& graph, const PrintOptions& options = {});

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_RELAY_TEXT_H_
