// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TESTS_EQUALITY_RANDOM_GRAPH_H_
#define KILN_TESTS_EQUALITY_RANDOM_GRAPH_H_

#include "tests/equality/engines.h"

namespace kiln::equality {

// A graph of some ten operators that fit each other, with inputs, by seed: element-wise arithmetic
// with broadcasting, convolutions, pooling, products, reductions, softmax, casts between float32
// and float16, and moves of data. The same seed gives the same case.
Case RandomCase(uint32_t seed);

// The same of quantized operators (qnn.*): products, arithmetic, functions and requantizations in
// every rounding, with random scales and zero points, among operators that move or compare
// integers. All of it but float arithmetic between dequantize and quantize is of integers.
Case RandomQuantizedCase(uint32_t seed);

// A contraction and up to six operators that are computed on its sums: bias, requantization, tables
// (sigmoid, tanh, lookups), clips, and sums with further inputs. 24 seeds in a row from
// a multiple of 24 have every contraction (1x1, 3x3, depthwise, transposed, dense, batch matmul) of
// int8, uint8, int16 and float32 once, 12 of them each with two of these types.
inline constexpr uint32_t kNumFusedContractions = 24;
Case RandomFusion(uint32_t seed);

// Some convolutions of channels-last data behind each other, of int8 or float32, of every stride,
// padding and dilation, depthwise ones among them, with sums of values before them.
Case RandomConvolutions(uint32_t seed);

// Makes what nothing reads outputs, so that nothing is dead; four at most.
void ReturnUnread(Graph& graph);

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_RANDOM_GRAPH_H_
