// SPDX-License-Identifier: Apache-2.0
// Loops that do nothing but multiply and add float32 in vector registers: one for each instruction
// set that a machine may have.
#ifndef KILN_TOOLS_KILN_FMA_KERNELS_H_
#define KILN_TOOLS_KILN_FMA_KERNELS_H_

#include <cstdint>
#include <vector>

namespace kiln::tools {

struct FmaKernel {
  const char* instructions;  // "avx512f"
  int64_t operations;        // of a step: two for each lane of each vector
  // Runs so many steps of sums = sums * scale + offset, and returns the total of the sums.
  float (*run)(int64_t steps, float scale, float offset);
};

// Those that this machine can run, at least one.
std::vector<FmaKernel> FmaKernels();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_FMA_KERNELS_H_
