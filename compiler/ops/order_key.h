// SPDX-License-Identifier: Apache-2.0
// Integer keys that are ordered like floats.
#ifndef KILN_COMPILER_OPS_ORDER_KEY_H_
#define KILN_COMPILER_OPS_ORDER_KEY_H_

#include <cstdint>

#include "compiler/base/tensor.h"
#include "compiler/loop/expr.h"

namespace kiln {

// The integer type of the keys of a float type: int32 for float32, int64 for float64.
DType OrderKeyType(DType dtype);

// The key of x. Keys compare as the floats do; -0 has the key of 0. NaN has the largest integer of
// the type, which no number has.
loop::Expr OrderKey(const loop::Expr& x);
// The same for a known number, rounded to the type.
int64_t OrderKey(double x, DType dtype);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_ORDER_KEY_H_
