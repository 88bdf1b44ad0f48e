// SPDX-License-Identifier: Apache-2.0
// LinearSum: constant + sum of coefficient * atom, the normal form of index arithmetic. Atoms are
// nodes of an ExprPool that are not sums themselves: variables, quotients, loads, …
#ifndef KILN_COMPILER_LOOP_LINEAR_SUM_H_
#define KILN_COMPILER_LOOP_LINEAR_SUM_H_

#include <cstdint>
#include <vector>

#include "compiler/loop/expr.h"

namespace kiln::loop {

struct LinearSum {
  struct Term {
    Expr atom;
    int id;  // ExprPool::Id of the atom
    int64_t coefficient;
  };

  std::vector<Term> terms = {};  // by ascending id, coefficients not zero
  int64_t constant = 0;

  bool is_constant() const { return terms.empty(); }
  // The atom if the sum is one atom with coefficient 1 and no constant; otherwise null.
  const Expr* single_atom() const {
    return terms.size() == 1 && constant == 0 && terms[0].coefficient == 1 ? &terms[0].atom
                                                                           : nullptr;
  }
  // Coefficient of the atom; 0 if it does not occur.
  int64_t CoefficientOf(const ExprNode* atom) const;
};

// Computes out = a + scale * b. Returns false and leaves `out` untouched if a coefficient does not
// fit into int64. `out` may be an operand.
bool AddScaled(const LinearSum& a, const LinearSum& b, int64_t scale, LinearSum* out);

// True if all coefficients and the constant are multiples of `divisor`, which is not zero.
bool Divisible(const LinearSum& a, int64_t divisor);
LinearSum DivideExactly(const LinearSum& a, int64_t divisor);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_LINEAR_SUM_H_
