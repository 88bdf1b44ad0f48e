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

// A sum of float32 and the products of a lane, in the order of a dot. `product(sum, term, parts)` is
// AddBFloatProduct of parts of the factors of a term, `add(sum, apart)` AddSumOfBFloats.
template <typename T, typename Product, typename Add>
T SumBFloatProducts(const DotShape& shape, T sum, const T& zero, const Product& product,
                    const Add& add) {
  for (int first = 0; first < shape.terms(); first += shape.group) {
    for (const DotShape::Product& parts : shape.products()) {
      if (!shape.sums_apart()) {
        for (int k = 0; k < shape.group; ++k) {
          sum = product(sum, shape.TermOfBFloats(first + k), parts);
        }
        continue;
      }
      T step = zero;
      for (int place = 0; place < shape.column_run; ++place) {
        T apart = zero;
        for (int k = place; k < shape.group; k += shape.column_run) {
          apart = product(apart, first + k, parts);
        }
        step = place == 0 ? apart : add(step, apart);
      }
      sum = add(sum, step);
    }
  }
  return sum;
}

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_BFLOAT16_H_
