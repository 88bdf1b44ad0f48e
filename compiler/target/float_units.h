// SPDX-License-Identifier: Apache-2.0
// Floats that a target computes in hardware. An FPU may support only float32.
#ifndef KILN_COMPILER_TARGET_FLOAT_UNITS_H_
#define KILN_COMPILER_TARGET_FLOAT_UNITS_H_

#include "compiler/base/dtype.h"
#include "compiler/target/target.h"

namespace kiln {

// True if instructions compute float64.
bool HasDoubles(const Target& target);
// True if the target has a fused multiply-add for `dtype`. False for integers.
bool FusesMultiplyAdd(const Target& target, DType dtype);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_FLOAT_UNITS_H_
