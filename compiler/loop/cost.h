// SPDX-License-Identifier: Apache-2.0
// Cost: the arithmetic and memory traffic of a kernel, independent of its schedule. Profiles divide
// it by the measured time.
//
//   const Cost cost = CostOf(kernel);  // a matrix product [m, k] x [k, n]: 2 m n k operations
//
// The operations are added over all stages, as the stages write the algorithm down:
//
//   operations = points of the space * points of the reduction
//                * (arithmetic of the value + 1 to combine it)
//
// Without a reduction, the operations are points of the space * arithmetic of the value. Arithmetic
// is counted if it is computed from elements of tensors, floats or integers. A multiplication,
// addition, comparison, minimum, square root and so on counts 1, and a fused multiply-add counts 2.
// Indices, conditions that guard padding, casts and selects count 0. An elementary function counts
// as the polynomial that computes it (math.h). Zeros that pad a convolution, or lie between the
// elements of a transposed one, are multiplied like all other values.
//
//   accessed bytes = sum over all inputs and constants of min(size, loads * size of an element)
//                    + size of all outputs
//
// This is the minimum that moves between the kernel and memory: each element is read or written
// once, values between stages stay in the cache, and constants have their size in the model. A
// number that does not fit is replaced by the largest int64_t.
#ifndef KILN_COMPILER_LOOP_COST_H_
#define KILN_COMPILER_LOOP_COST_H_

#include <cstdint>

#include "compiler/loop/stage.h"

namespace kiln::loop {

struct Cost {
  int64_t operations = 0;
  int64_t accessed_bytes = 0;

  Cost operator+(const Cost& other) const;
  friend bool operator==(const Cost&, const Cost&) = default;
};

Cost CostOf(const Kernel& kernel);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_COST_H_
