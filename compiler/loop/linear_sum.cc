// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/linear_sum.h"

#include <utility>

namespace kiln::loop {
namespace {

// Computes *out = a + scale * b. Returns false if it does not fit.
bool MultiplyAdd(int64_t a, int64_t scale, int64_t b, int64_t* out) {
  int64_t product;
  return !__builtin_mul_overflow(scale, b, &product) && !__builtin_add_overflow(a, product, out);
}

}  // namespace

int64_t LinearSum::CoefficientOf(const ExprNode* atom) const {
  for (const Term& term : terms) {
    if (term.atom.get() == atom) return term.coefficient;
  }
  return 0;
}

bool AddScaled(const LinearSum& a, const LinearSum& b, int64_t scale, LinearSum* out) {
  LinearSum sum;
  if (!MultiplyAdd(a.constant, scale, b.constant, &sum.constant)) return false;
  sum.terms.reserve(a.terms.size() + b.terms.size());
  size_t i = 0;
  size_t k = 0;
  while (i < a.terms.size() || k < b.terms.size()) {
    const bool from_a =
        k == b.terms.size() || (i < a.terms.size() && a.terms[i].id <= b.terms[k].id);
    const bool from_b =
        i == a.terms.size() || (k < b.terms.size() && b.terms[k].id <= a.terms[i].id);
    LinearSum::Term term = from_a ? a.terms[i] : b.terms[k];
    if (!MultiplyAdd(from_a ? term.coefficient : 0, from_b ? scale : 0,
                     from_b ? b.terms[k].coefficient : 0, &term.coefficient)) {
      return false;
    }
    if (term.coefficient != 0) sum.terms.push_back(std::move(term));
    i += from_a;
    k += from_b;
  }
  *out = std::move(sum);
  return true;
}

bool Divisible(const LinearSum& a, int64_t divisor) {
  if (a.constant % divisor != 0) return false;
  for (const LinearSum::Term& term : a.terms) {
    if (term.coefficient % divisor != 0) return false;
  }
  return true;
}

LinearSum DivideExactly(const LinearSum& a, int64_t divisor) {
  LinearSum quotient = a;
  quotient.constant /= divisor;
  for (LinearSum::Term& term : quotient.terms) term.coefficient /= divisor;
  return quotient;
}

}  // namespace kiln::loop
