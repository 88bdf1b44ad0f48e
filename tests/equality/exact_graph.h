// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TESTS_EQUALITY_EXACT_GRAPH_H_
#define KILN_TESTS_EQUALITY_EXACT_GRAPH_H_

#include <cstdint>

#include "compiler/graph/graph.h"

namespace kiln::equality {

// Returns a random graph in which no float is rounded, so that graph passes keep every bit: values
// are small integers times powers of two. It contains patterns that passes change: batch norms and
// dropouts, successive reshapes and transposes, scales after convolutions and dense layers,
// computed constants, duplicate nodes, and outputs that are inputs, constants or other outputs. If
// `quantised` is true, products and moves are between dequantize and quantize.
Graph RandomExactGraph(uint32_t seed, bool quantised);

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_EXACT_GRAPH_H_
