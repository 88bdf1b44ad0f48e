// SPDX-License-Identifier: Apache-2.0
// Integers in the order of floats.
#ifndef KILN_COMPILER_OPS_ORDER_KEY_H_
#define KILN_COMPILER_OPS_ORDER_KEY_H_

#include <cstdint>

#include "compiler/base/tensor.h"
#include "compiler/loop/expr.h"

namespace kiln {

// The integer type of the keys of a float type: int32 for float32, int64 for float64.
DType OrderKeyType(DType dtype);

// An integer that is less, equal or greater as the float is: -0 is 0. A NaN has the greatest one of
// the type, which no number has.
loop::Expr OrderKey(const loop::Expr& x);
// The same of a number that is known, rounded to the type.
int64_t OrderKey(double x, DType dtype);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_ORDER_KEY_H_
