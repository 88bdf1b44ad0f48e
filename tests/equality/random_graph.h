// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TESTS_EQUALITY_RANDOM_GRAPH_H_
#define KILN_TESTS_EQUALITY_RANDOM_GRAPH_H_

#include "tests/equality/engines.h"

namespace kiln::equality {

// Returns a graph of about ten operators that fit each other, with inputs, by seed: element-wise
// arithmetic with broadcasting, convolutions, pooling, products, reductions, softmax, casts between
// float32 and float16, and moves of data. The same seed gives the same case.
Case RandomCase(uint32_t seed);

// Returns the same for quantized operators (qnn.*): products, arithmetic, functions and
// requantizations with every rounding, with random scales and zero points, mixed with operators
// that move or compare integers. All arithmetic is on integers, except between dequantize and
// quantize.
Case RandomQuantizedCase(uint32_t seed);

// Returns a contraction and up to six operators that are computed on its sums: bias,
// requantization, tables (sigmoid, tanh, lookups), clips, and sums with further inputs. 24
// successive seeds from a multiple of 24 have every contraction (1x1, 3x3, depthwise, transposed,
// dense, batch matmul) of int8, uint8, int16 and float32 once. Each half of them has every
// contraction with two of these types.
inline constexpr uint32_t kNumFusedContractions = 24;
Case RandomFusion(uint32_t seed);

// Returns a chain of convolutions of channels-last data, int8 or float32, with various strides,
// paddings and dilations, some of them depthwise, and with sums of earlier values.
Case RandomConvolutions(uint32_t seed);

// Makes unread values outputs, so that nothing is dead, up to four outputs.
void ReturnUnread(Graph& graph);

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_RANDOM_GRAPH_H_
