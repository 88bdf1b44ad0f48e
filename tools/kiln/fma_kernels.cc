// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/fma_kernels.h"

#include <algorithm>

namespace kiln::tools {
namespace {

constexpr int kBytesOfFloat = 4;
constexpr int kOperationsOfMultiplyAdd = 2;

// Defines a separate function for each instruction set, because attributes cannot be template
// arguments and inlined code would keep the vectors of its own instruction set. The number of
// vectors hides the latency of the units and fits the registers.
#define KILN_FMA_KERNEL(name, attributes, bytes, vectors)                                \
  attributes float name(int64_t steps, float scale, float offset) {                      \
    typedef float Vector __attribute__((vector_size(bytes)));                            \
    const Vector scales = Vector{} + scale, offsets = Vector{} + offset;                 \
    Vector sums[vectors];                                                                \
    for (int i = 0; i < (vectors); ++i) sums[i] = Vector{} + static_cast<float>(i);      \
    for (int64_t step = 0; step < steps; ++step) {                                       \
      for (int i = 0; i < (vectors); ++i) sums[i] = sums[i] * scales + offsets;          \
    }                                                                                    \
    float total = 0;                                                                     \
    for (int i = 0; i < (vectors); ++i) {                                                \
      for (int lane = 0; lane < (bytes) / kBytesOfFloat; ++lane) total += sums[i][lane]; \
    }                                                                                    \
    return total;                                                                        \
  }

constexpr FmaKernel Kernel(const char* instructions, int bytes, bool fused, int vectors,
                           float (*run)(int64_t, float, float)) {
  return {instructions, 8 * bytes, fused,
          int64_t{kOperationsOfMultiplyAdd} * vectors * (bytes / kBytesOfFloat), run};
}

#if defined(__x86_64__)

KILN_FMA_KERNEL(RunSse2, , 16, 12)
KILN_FMA_KERNEL(RunAvx, __attribute__((target("avx"))), 32, 12)
KILN_FMA_KERNEL(RunAvx2, __attribute__((target("avx2,fma"))), 32, 12)
KILN_FMA_KERNEL(RunAvx512, __attribute__((target("avx512f"))), 64, 16)

#else

KILN_FMA_KERNEL(RunBaseline, , 16, 24)

#endif

#undef KILN_FMA_KERNEL

}  // namespace

std::vector<FmaKernel> FmaKernels(const Target& target) {
  // The first kernel runs on every machine.
#if defined(__x86_64__)
  std::vector<FmaKernel> kernels = {Kernel("sse2", 16, false, 12, RunSse2)};
  if (__builtin_cpu_supports("avx")) kernels.push_back(Kernel("avx", 32, false, 12, RunAvx));
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    kernels.push_back(Kernel("avx2 fma", 32, true, 12, RunAvx2));
  }
  if (__builtin_cpu_supports("avx512f")) {
    kernels.push_back(Kernel("avx512f", 64, true, 16, RunAvx512));
  }
#elif defined(__ARM_NEON)
  std::vector<FmaKernel> kernels = {Kernel("neon", 16, true, 24, RunBaseline)};
#else
  std::vector<FmaKernel> kernels = {Kernel("baseline", 16, true, 24, RunBaseline)};
#endif
  const auto beyond = [&](const FmaKernel& kernel) {
    return kernel.vector_bits > target.vector_bits || (kernel.fused && !target.has_fma);
  };
  kernels.erase(std::remove_if(kernels.begin() + 1, kernels.end(), beyond), kernels.end());
  return kernels;
}

}  // namespace kiln::tools
