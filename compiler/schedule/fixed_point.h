// SPDX-License-Identifier: Apache-2.0
// Requantization in as few instructions as the ranges of values allow.
//
// A sum s becomes a byte by rounding_shr(rounding_mul_high(s, m), n) + z, the arithmetic of
// gemmlowp and of TFLite's reference kernels. If |s| < 2^30 and n >= 1, the same numbers are
//
//   v = rounding_mul_top(s << 1, m)
//   (v + (v >> 31) + (2^(n - 1) + z 2^n)) >> n.
//
// rounding_mul_top is one instruction on many machines, nothing saturates, and halves are rounded
// without a test of the sign. If memory is short, the second line is instead
//
//   (((v + (v >> 31)) >> (n - 1)) + (1 + 2 z)) >> 1,
//
// whose constants are bytes. Constants that are added to a sum one after another become one
// constant. Limiting a sum to the values of a narrower type becomes one operation.
#ifndef KILN_COMPILER_SCHEDULE_FIXED_POINT_H_
#define KILN_COMPILER_SCHEDULE_FIXED_POINT_H_

#include "compiler/schedule/families.h"

namespace kiln::schedule {

// Rewrites the values of the kernel's stages without changing any result. Adds the constants that
// this needs to the context.
void ShortenFixedPoint(loop::Kernel& kernel, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_FIXED_POINT_H_
