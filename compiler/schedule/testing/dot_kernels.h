// SPDX-License-Identifier: Apache-2.0
// For tests of dot products: kernels of int8 and int16.
#ifndef KILN_COMPILER_SCHEDULE_TESTING_DOT_KERNELS_H_
#define KILN_COMPILER_SCHEDULE_TESTING_DOT_KERNELS_H_

#include <cstdint>

#include "compiler/schedule/testing/dot_machines.h"
#include "compiler/schedule/testing/run_kernel.h"

namespace kiln::schedule {

// A machine without an operating system, with vectors of `vector_bits`.
Target FirmwareTarget(int vector_bits);

// out[m, n] = the sum over k of x[m, k] * w[n, k].
loop::Kernel Dense(int64_t m, int64_t k, int64_t n, DType of_x, const Weights& weights);

struct Conv {
  int64_t height, width, channels, outputs;
  int64_t kernel = 3, stride = 1, pad = 1;
};

// out[h, w, o] = relu of the sum over kh, kw, i of padded[h * stride + kh, w * stride + kw, i] *
// weight[kh, kw, i, o]. Padding is 7.
loop::Kernel Convolution(const Conv& c, DType of_x, const Weights& weights);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_TESTING_DOT_KERNELS_H_
