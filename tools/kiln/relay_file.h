// SPDX-License-Identifier: Apache-2.0
// A model as Relay text, which accompanies compiled code and is read by other programs.
#ifndef KILN_TOOLS_KILN_RELAY_FILE_H_
#define KILN_TOOLS_KILN_RELAY_FILE_H_

#include <string>

#include "compiler/graph/graph.h"

namespace kiln::tools {

// Returns the text of PrintRelay. If the graph has operators or attributes that TVM 0.9 lacks, a
// comment after the version names them.
std::string RelayFile(const Graph& graph);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_RELAY_FILE_H_
