// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TESTS_EQUALITY_RANDOM_GRAPH_H_
#define KILN_TESTS_EQUALITY_RANDOM_GRAPH_H_

#include "tests/equality/engines.h"

namespace kiln::equality {

// A graph of some ten operators that fit each other, with inputs, by seed: element-wise arithmetic
// with broadcasting, convolutions, pooling, products, reductions, softmax, casts between float32
// and float16, and moves of data. The same seed gives the same case.
Case RandomCase(uint32_t seed);

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_RANDOM_GRAPH_H_
