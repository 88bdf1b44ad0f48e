// SPDX-License-Identifier: Apache-2.0
// The TVMBackendPackedCFunc that wraps the C function of a subgraph.
#ifndef KILN_COMPILER_EXTERNAL_CSOURCE_PACKED_FUNCTION_H_
#define KILN_COMPILER_EXTERNAL_CSOURCE_PACKED_FUNCTION_H_

#include <string>

#include "compiler/graph/graph.h"

namespace kiln::csource {

// Returns the beginning of a file with packed functions. `loader_pointers` is that of
// ExternalRequest.
std::string PackedPrologue(bool loader_pointers);

// Returns the packed function `name`. It checks number, dtype, shape and device of its arguments,
// and calls `body_name` with their addresses. A wrong argument is an error that says what the
// function accepts.
std::string WritePackedFunction(const Graph& body, const std::string& name,
                                const std::string& body_name, bool loader_pointers);

}  // namespace kiln::csource

#endif  // KILN_COMPILER_EXTERNAL_CSOURCE_PACKED_FUNCTION_H_
