// SPDX-License-Identifier: Apache-2.0
// A model as Relay text that goes out with what is compiled of it, for other programs to read.
#ifndef KILN_TOOLS_KILN_RELAY_FILE_H_
#define KILN_TOOLS_KILN_RELAY_FILE_H_

#include <string>

#include "compiler/graph/graph.h"

namespace kiln::tools {

// PrintRelay, with a comment behind the version that names the operators and attributes of the
// graph that TVM 0.9 does not have, if there are any.
std::string RelayFile(const Graph& graph);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_RELAY_FILE_H_
