// SPDX-License-Identifier: Apache-2.0
// Cost: how much arithmetic and memory traffic a kernel asks for, whatever schedule computes it.
// What a profile divides by the time.
//
//   const Cost cost = CostOf(kernel);  // a matrix product [m, k] x [k, n]: 2 m n k operations
//
// Of every stage, by the algorithm that it writes down:
//
//   operations = points of the space * points of the reduction
//                * (arithmetic of the value + 1 to combine it)
//
// without the last term and factor where nothing is reduced. Arithmetic is what is computed of
// elements of tensors, floats or integers: a multiplication, addition, comparison, minimum, square
// root and so on is 1, a fused multiply-add 2. Indices, the tests that guard padding, casts and
// selections are 0. Elementary functions are the polynomials that they are made of (math.h), and
// zeros that pad a convolution or stand between the places of a transposed one are multiplied like
// all other values.
//
//   accessed bytes = over all inputs and constants min(size, loads * size of an element)
//                    + size of all outputs
//
// is the least that moves between the kernel and memory: each element is read or written once, what
// is between the stages stays in the cache, and constants are as large as in the model. A number
// that does not fit is the largest int64_t.
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
