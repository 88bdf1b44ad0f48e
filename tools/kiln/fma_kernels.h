// SPDX-License-Identifier: Apache-2.0
// Loops that do nothing but multiply and add float32 in vector registers: one for each instruction
// set that a machine may have.
#ifndef KILN_TOOLS_KILN_FMA_KERNELS_H_
#define KILN_TOOLS_KILN_FMA_KERNELS_H_

#include <cstdint>
#include <vector>

#include "compiler/target/target.h"

namespace kiln::tools {

struct FmaKernel {
  const char* instructions;  // "avx512f"
  int vector_bits;           // of one register
  bool fused;                // multiplications and additions in one instruction
  int64_t operations;        // of a step: two for each lane of each vector
  // Runs so many steps of sums = sums * scale + offset, and returns the total of the sums.
  float (*run)(int64_t steps, float scale, float offset);
};

// Those that this machine can run, and that code for the target may use; at least one.
std::vector<FmaKernel> FmaKernels(const Target& target);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_FMA_KERNELS_H_
