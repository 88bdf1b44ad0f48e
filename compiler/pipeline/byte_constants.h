// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_PIPELINE_BYTE_CONSTANTS_H_
#define KILN_COMPILER_PIPELINE_BYTE_CONSTANTS_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {

// The numbers of elements of the constants of int8 and uint8 that nodes of the graph read, also of those inside of
// groups, ascending. They are the weights that the library stores in bytes.
std::vector<int64_t> ByteConstantsOf(const Graph& graph);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_BYTE_CONSTANTS_H_
