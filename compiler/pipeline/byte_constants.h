// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_PIPELINE_BYTE_CONSTANTS_H_
#define KILN_COMPILER_PIPELINE_BYTE_CONSTANTS_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {

// Sizes, ascending, of the int8 and uint8 constants that nodes of the graph or of its fused groups
// read, in elements. They are the weights that the library stores as bytes.
std::vector<int64_t> ByteConstantsOf(const Graph& graph);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_BYTE_CONSTANTS_H_
