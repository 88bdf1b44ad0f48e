// SPDX-License-Identifier: Apache-2.0
// Quotients and remainders of index sums by positive constants. Division truncates, so most rules
// need a non-negative dividend, for which it equals the mathematical floor.
#include <numeric>
#include <set>
#include <utility>

#include "compiler/loop/simplifier.h"

namespace kiln::loop {
namespace {

// Splits a sum into `high`, the terms whose coefficients are multiples of `factor`, and `low`, the
// other terms and the constant.
void SplitTerms(const LinearSum& a, int64_t factor, LinearSum* high, LinearSum* low) {
  *high = {};
  *low = {.constant = a.constant};
  for (const LinearSum::Term& term : a.terms) {
    (term.coefficient % factor == 0 ? high : low)->terms.push_back(term);
  }
}

// Returns the inner operation `op` by a positive constant if the sum is one such atom, otherwise
// null.
const Binary* AsAtom(const LinearSum& a, BinaryOp op, int64_t* divisor) {
  const Expr* atom = a.single_atom();
  const Binary* n = atom == nullptr ? nullptr : atom->As<Binary>();
  return n != nullptr && n->op == op && AsInt(n->b, divisor) && *divisor > 0 ? n : nullptr;
}

}  // namespace

Expr Simplifier::DivideIndex(const LinearSum& a, int64_t divisor) {
  if (divisor == 1) return FromLinear(a);
  const Range range = RangeOf(a);
  if (range.bounded() && range.lo / divisor == range.hi / divisor) {
    return Constant(range.lo / divisor);
  }
  if (Divisible(a, divisor)) return FromLinear(DivideExactly(a, divisor));
  if (range.lo < 0) {
    int64_t inner, product;
    const Binary* n = AsAtom(a, BinaryOp::kDiv, &inner);
    if (n != nullptr && !__builtin_mul_overflow(inner, divisor, &product)) {
      return DivideIndex(LinearOf(n->a), product);
    }
    return Raw(Type::Index(), Binary{BinaryOp::kDiv, FromLinear(a), Constant(divisor)});
  }

  // a == high + low, and `divisor` divides the terms of `high`. `low` is moved to begin in
  // [0, divisor).
  LinearSum high, low;
  SplitTerms(a, divisor, &high, &low);
  const Range rest = RangeOf(low);
  if (rest.lo == Range::kNegInf) return DivideNonNegative(a, divisor);
  const int64_t shift = FloorDivide(rest.lo, divisor);
  LinearSum quotient = DivideExactly(high, divisor);
  if (__builtin_add_overflow(quotient.constant, shift, &quotient.constant)) {
    return DivideNonNegative(a, divisor);
  }
  low.constant -= shift * divisor;
  const Expr low_quotient = DivideNonNegative(low, divisor);
  if (quotient.is_constant() && quotient.constant == 0) return low_quotient;
  return IndexBinary(BinaryOp::kAdd, FromLinear(quotient), low_quotient);
}

bool Simplifier::SplitByFactor(const LinearSum& a, int64_t divisor, int64_t* factor,
                               LinearSum* high, LinearSum* low) {
  std::set<int64_t, std::greater<int64_t>> factors;
  for (const LinearSum::Term& term : a.terms) factors.insert(std::gcd(term.coefficient, divisor));
  for (int64_t f : factors) {
    if (f <= 1 || f >= divisor) continue;
    SplitTerms(a, f, high, low);
    const int64_t whole = FloorDivide(low->constant, f) * f;
    low->constant -= whole;
    high->constant += whole;
    if (RangeOf(*low).within({0, f - 1})) {
      *factor = f;
      return true;
    }
  }
  return false;
}

Expr Simplifier::DivideNonNegative(const LinearSum& a, int64_t divisor) {
  const Range range = RangeOf(a);
  if (range.bounded() && range.lo / divisor == range.hi / divisor) {
    return Constant(range.lo / divisor);
  }
  int64_t factor;
  LinearSum high, low;
  if (SplitByFactor(a, divisor, &factor, &high, &low)) {
    return DivideIndex(DivideExactly(high, factor), divisor / factor);
  }
  int64_t inner, product;
  if (const Binary* n = AsAtom(a, BinaryOp::kDiv, &inner);
      n != nullptr && !__builtin_mul_overflow(inner, divisor, &product)) {
    return DivideIndex(LinearOf(n->a), product);
  }
  if (const Binary* n = AsAtom(a, BinaryOp::kMod, &inner); n != nullptr && inner % divisor == 0) {
    const LinearSum& x = LinearOf(n->a);
    if (RangeOf(x).lo >= 0) {
      return ModIndex(LinearOf(DivideIndex(x, divisor)), inner / divisor);
    }
  }
  return Raw(Type::Index(), Binary{BinaryOp::kDiv, FromLinear(a), Constant(divisor)});
}

Expr Simplifier::ModIndex(const LinearSum& a, int64_t divisor) {
  if (divisor == 1) return Constant(0);
  const Range range = RangeOf(a);
  if (range.bounded() && range.lo / divisor == range.hi / divisor) {
    LinearSum remainder = a;
    remainder.constant -= range.lo / divisor * divisor;
    return FromLinear(remainder);
  }
  if (Divisible(a, divisor)) return Constant(0);
  if (range.lo < 0) {
    int64_t inner;
    const Binary* n = AsAtom(a, BinaryOp::kMod, &inner);
    if (n != nullptr && inner % divisor == 0) return ModIndex(LinearOf(n->a), divisor);
    return Raw(Type::Index(), Binary{BinaryOp::kMod, FromLinear(a), Constant(divisor)});
  }
  LinearSum high, low;
  SplitTerms(a, divisor, &high, &low);
  const Range rest = RangeOf(low);
  if (rest.lo == Range::kNegInf) return ModNonNegative(a, divisor);
  low.constant -= FloorDivide(rest.lo, divisor) * divisor;
  return ModNonNegative(low, divisor);
}

Expr Simplifier::ModNonNegative(const LinearSum& a, int64_t divisor) {
  const Range range = RangeOf(a);
  if (range.bounded() && range.lo / divisor == range.hi / divisor) {
    LinearSum remainder = a;
    remainder.constant -= range.lo / divisor * divisor;
    return FromLinear(remainder);
  }
  int64_t factor;
  LinearSum high, low;
  if (SplitByFactor(a, divisor, &factor, &high, &low)) {
    const Expr digit = ModIndex(DivideExactly(high, factor), divisor / factor);
    return IndexBinary(BinaryOp::kAdd, IndexProduct(digit, Constant(factor)), FromLinear(low));
  }
  int64_t inner;
  if (const Binary* n = AsAtom(a, BinaryOp::kMod, &inner); n != nullptr && inner % divisor == 0) {
    return ModIndex(LinearOf(n->a), divisor);
  }
  return Raw(Type::Index(), Binary{BinaryOp::kMod, FromLinear(a), Constant(divisor)});
}

}  // namespace kiln::loop
