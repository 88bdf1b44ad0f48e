// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16 as operations of the loop IR, for code generators that lack the instruction
// of a dot.
#ifndef KILN_COMPILER_LOOP_BFLOAT16_H_
#define KILN_COMPILER_LOOP_BFLOAT16_H_

#include "compiler/loop/expr.h"

namespace kiln::loop {

// Returns sum + a * b, rounded as a dot does it (expr.h). `sum` is float32, `a` and `b` are
// bfloat16. All have the same number of lanes.
Expr AddBFloatProduct(const Expr& sum, const Expr& a, const Expr& b);
// Returns sum + apart. `apart` is a sum of such products that was computed separately
// (DotShape::sums_apart).
Expr AddSumOfBFloats(const Expr& sum, const Expr& apart);

// Returns `sum` plus the products of one lane, added in the order of a dot. `product(sum, term,
// parts)` is AddBFloatProduct for the given parts of the factors of a term. `add(sum, apart)` is
// AddSumOfBFloats.
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
