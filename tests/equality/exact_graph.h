// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TESTS_EQUALITY_EXACT_GRAPH_H_
#define KILN_TESTS_EQUALITY_EXACT_GRAPH_H_

#include <cstdint>

#include "compiler/graph/graph.h"

namespace kiln::equality {

// A graph by seed in which no float is rounded, so that graph passes keep every bit: values are
// small integers times powers of two. It has what the passes look for: batch norms and dropouts,
// reshapes and transposes in a row, scales behind convolutions and dense layers, computed
// constants, nodes written twice, outputs that are inputs, constants or other outputs. With
// `quantized`, products and moves stand between dequantize and quantize.
Graph RandomExactGraph(uint32_t seed, bool quantised);

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_EXACT_GRAPH_H_
