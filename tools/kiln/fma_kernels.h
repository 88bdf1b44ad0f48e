// SPDX-License-Identifier: Apache-2.0
// Loops that only multiply and add float32 in vector registers, one for each instruction set that a
// machine may have.
#ifndef KILN_TOOLS_KILN_FMA_KERNELS_H_
#define KILN_TOOLS_KILN_FMA_KERNELS_H_

#include <cstdint>
#include <vector>

#include "compiler/target/target.h"

namespace kiln::tools {

struct FmaKernel {
  const char* instructions;  // such as "avx512f"
  int vector_bits;           // of one register
  bool fused;                // one instruction multiplies and adds
  int64_t operations;        // per step: two for each lane of each vector
  // Runs the given number of steps of sums = sums * scale + offset. Returns the total of the sums.
  float (*run)(int64_t steps, float scale, float offset);
};

// Returns the kernels that this machine can run and that code for the target may use. At least one.
std::vector<FmaKernel> FmaKernels(const Target& target);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_FMA_KERNELS_H_
