// SPDX-License-Identifier: Apache-2.0
// TensorMemory: memory that the tensors of a model take while one of its functions runs. A schedule
// that wants scratch memory uses it to determine the cost.
#ifndef KILN_COMPILER_SCHEDULE_TENSOR_MEMORY_H_
#define KILN_COMPILER_SCHEDULE_TENSOR_MEMORY_H_

#include <cstdint>

namespace kiln {

struct TensorMemory {
  // Lower bound of the bytes that any memory plan takes for tensors at some time.
  int64_t least_bytes = 0;
  // Scratch memory that the function may use without raising any plan. It is negative if the
  // tensors that are alive, none of them overlapping, take more than `least_bytes`.
  int64_t spare_bytes = 0;
};

}  // namespace kiln

#endif  // KILN_COMPILER_SCHEDULE_TENSOR_MEMORY_H_
