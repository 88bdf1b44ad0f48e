// SPDX-License-Identifier: Apache-2.0
// TensorMemory: what the tensors of a model take of memory while one of its functions runs. A
// schedule that wants scratch memory learns from it what that costs.
#ifndef KILN_COMPILER_SCHEDULE_TENSOR_MEMORY_H_
#define KILN_COMPILER_SCHEDULE_TENSOR_MEMORY_H_

#include <cstdint>

namespace kiln {

struct TensorMemory {
  // Bytes that any plan takes for tensors at some time, at least.
  int64_t least_bytes = 0;
  // Scratch memory of the function that raises no plan. Negative where the tensors that are alive,
  // none of them overlapping, are more than the least.
  int64_t spare_bytes = 0;
};

}  // namespace kiln

#endif  // KILN_COMPILER_SCHEDULE_TENSOR_MEMORY_H_
