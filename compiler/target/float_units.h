// SPDX-License-Identifier: Apache-2.0
// The floats that a target computes in hardware; a core may have a unit of float32 alone.
#ifndef KILN_COMPILER_TARGET_FLOAT_UNITS_H_
#define KILN_COMPILER_TARGET_FLOAT_UNITS_H_

#include "compiler/base/dtype.h"
#include "compiler/target/target.h"

namespace kiln {

// True if float64 is computed by instructions.
bool HasDoubles(const Target& target);
// True if there is a fused multiply-add of the dtype, which may be any.
bool FusesMultiplyAdd(const Target& target, DType dtype);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_FLOAT_UNITS_H_
