// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16 by operations of the loop IR: what a code generator says of a dot whose
// instruction it lacks.
#ifndef KILN_COMPILER_LOOP_BFLOAT16_H_
#define KILN_COMPILER_LOOP_BFLOAT16_H_

#include "compiler/loop/expr.h"

namespace kiln::loop {

// What a dot makes of `sum`, of float32, by one product of bfloat16 (expr.h); all of as many lanes.
Expr AddBFloatProduct(const Expr& sum, const Expr& a, const Expr& b);
// The same, by a sum of such products that has been made apart (DotShape::sums_apart).
Expr AddSumOfBFloats(const Expr& sum, const Expr& apart);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_BFLOAT16_H_
