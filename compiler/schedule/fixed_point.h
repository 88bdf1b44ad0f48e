// SPDX-License-Identifier: Apache-2.0
// Requantization in as few instructions as the ranges of values allow.
//
// A sum s becomes a byte by rounding_shr(rounding_mul_high(s, m), n) + z (gemmlowp's arithmetic,
// which TFLite's reference kernels have). With |s| < 2^30 and n >= 1 the same numbers are
//
//   v = rounding_mul_top(s << 1, m)
//   (v + (v >> 31) + (2^(n - 1) + z 2^n)) >> n
//
// where rounding_mul_top is one instruction of many machines, nothing saturates, and no halves are
// told by their sign. Where memory is short it is (((v + (v >> 31)) >> (n - 1)) + (1 + 2 z)) >> 1,
// whose constants are bytes. Constants that are added to a sum one after the other become one, and what
// limits a sum to the values of a narrower type becomes one operation.
#ifndef KILN_COMPILER_SCHEDULE_FIXED_POINT_H_
#define KILN_COMPILER_SCHEDULE_FIXED_POINT_H_

#include "compiler/schedule/families.h"

namespace kiln::schedule {

// Rewrites the values of the kernel's stages; the constants that this needs are added to the
// context. No value changes.
void ShortenFixedPoint(loop::Kernel& kernel, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_FIXED_POINT_H_
