// SPDX-License-Identifier: Apache-2.0
// Scalar index arithmetic: sums, products, minima and comparisons. Indices are treated as
// mathematical integers, because the index type does not overflow.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/align.h"
#include "compiler/loop/simplifier.h"

namespace kiln::loop {

const LinearSum& Simplifier::LinearOf(const Expr& e) {
  if (auto it = linear_.find(e.get()); it != linear_.end()) return it->second;
  const Expr atom = pool_.Intern(e);
  LinearSum sum;
  if (int64_t value; AsInt(atom, &value)) {
    sum.constant = value;
  } else {
    sum.terms.push_back({atom, pool_.Id(atom), 1});
  }
  return linear_.emplace(atom.get(), std::move(sum)).first->second;
}

Expr Simplifier::FromLinear(const LinearSum& sum) {
  if (sum.is_constant()) return Constant(sum.constant);
  std::vector<const LinearSum::Term*> order;
  order.reserve(sum.terms.size());
  for (const LinearSum::Term& term : sum.terms) order.push_back(&term);
  // Terms are ordered by id already, and the sort is stable.
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    return DepthOf(a->atom) < DepthOf(b->atom);
  });

  const Type type = Type::Index();
  Expr result;
  bool constant_placed = sum.constant == 0;
  // A sum begins with a positive term if it has one.
  if (order[0]->coefficient < 0) {
    auto positive = std::find_if(order.begin(), order.end(),
                                 [](const auto* term) { return term->coefficient > 0; });
    if (positive != order.end()) {
      std::rotate(order.begin(), positive, positive + 1);
    } else if (sum.constant > 0) {
      result = Constant(sum.constant);
      constant_placed = true;
    }
  }
  for (const LinearSum::Term* term : order) {
    const bool subtract =
        term->coefficient < 0 && result.get() != nullptr && term->coefficient != Range::kNegInf;
    const int64_t scale = subtract ? -term->coefficient : term->coefficient;
    Expr product =
        scale == 1 ? term->atom : Raw(type, Binary{BinaryOp::kMul, term->atom, Constant(scale)});
    result = result.get() == nullptr
                 ? product
                 : Raw(type, Binary{subtract ? BinaryOp::kSub : BinaryOp::kAdd, result, product});
  }
  if (!constant_placed) {
    const bool subtract = sum.constant < 0 && sum.constant != Range::kNegInf;
    result = Raw(type, Binary{subtract ? BinaryOp::kSub : BinaryOp::kAdd, result,
                              Constant(subtract ? -sum.constant : sum.constant)});
  }
  linear_.emplace(result.get(), sum);
  return result;
}

Expr Simplifier::IndexBinary(BinaryOp op, const Expr& a, const Expr& b) {
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub: {
      LinearSum sum;
      if (!AddScaled(LinearOf(a), LinearOf(b), op == BinaryOp::kAdd ? 1 : -1, &sum)) break;
      MergeQuotients(&sum);
      return FromLinear(sum);
    }
    case BinaryOp::kMul:
      return IndexProduct(a, b);
    case BinaryOp::kDiv:
    case BinaryOp::kMod: {
      int64_t c;
      if (!AsInt(b, &c) || c == Range::kNegInf) break;
      // The sign of the divisor only changes the sign of the quotient.
      if (c == 0) return Constant(0);
      if (op == BinaryOp::kMod) return ModIndex(LinearOf(a), c < 0 ? -c : c);
      if (c > 0) return DivideIndex(LinearOf(a), c);
      return IndexProduct(DivideIndex(LinearOf(a), -c), Constant(-1));
    }
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return IndexMinMax(op, a, b);
    default:
      break;
  }
  return pool_.Intern(MakeBinary(op, a, b));
}

Expr Simplifier::IndexProduct(const Expr& a, const Expr& b) {
  const LinearSum& x = LinearOf(a);
  const LinearSum& y = LinearOf(b);
  LinearSum sum;
  if (x.is_constant() && AddScaled({}, y, x.constant, &sum)) return FromLinear(sum);
  if (y.is_constant() && AddScaled({}, x, y.constant, &sum)) return FromLinear(sum);
  return pool_.Intern(MakeBinary(BinaryOp::kMul, a, b));
}

Expr Simplifier::IndexMinMax(BinaryOp op, const Expr& a, const Expr& b) {
  LinearSum difference;
  if (a.get() == b.get()) return a;
  if (AddScaled(LinearOf(a), LinearOf(b), -1, &difference)) {
    const Range range = RangeOf(difference);
    if (range.hi <= 0) return op == BinaryOp::kMin ? a : b;
    if (range.lo >= 0) return op == BinaryOp::kMin ? b : a;
  }
  // min(min(x, 5), 7) becomes min(x, 5).
  int64_t inner, outer;
  if (const auto* n = a.As<Binary>();
      n != nullptr && n->op == op && AsInt(n->b, &inner) && AsInt(b, &outer)) {
    const int64_t c = op == BinaryOp::kMin ? std::min(inner, outer) : std::max(inner, outer);
    return IndexMinMax(op, n->a, Constant(c));
  }
  if (int64_t c; AsInt(a, &c)) return Raw(Type::Index(), Binary{op, b, a});
  return Raw(Type::Index(), Binary{op, a, b});
}

Expr Simplifier::IndexCompare(CompareOp op, const Expr& a, const Expr& b) {
  LinearSum d;
  if (!AddScaled(LinearOf(a), LinearOf(b), -1, &d)) return pool_.Intern(MakeCompare(op, a, b));

  // Reduces the comparison to d < 0 or d >= 0, or to d == 0 or d != 0.
  if (op == CompareOp::kLe || op == CompareOp::kGt) {
    if (d.constant == Range::kNegInf) return pool_.Intern(MakeCompare(op, a, b));
    d.constant -= 1;
    op = op == CompareOp::kLe ? CompareOp::kLt : CompareOp::kGe;
  }
  const Range range = RangeOf(d);
  const bool ordered = op == CompareOp::kLt || op == CompareOp::kGe;
  if (ordered) {
    if (range.hi < 0) return Bool(op == CompareOp::kLt);
    if (range.lo >= 0) return Bool(op == CompareOp::kGe);
  } else {
    if (range.lo > 0 || range.hi < 0) return Bool(op == CompareOp::kNe);
    if (range == Range::Point(0)) return Bool(op == CompareOp::kEq);
  }
  int64_t common = 0;
  for (const LinearSum::Term& term : d.terms) common = std::gcd(common, term.coefficient);
  if (d.constant == Range::kNegInf || common <= 0) return pool_.Intern(MakeCompare(op, a, b));

  // Moves the constant to the right: sum < -constant. The sum must begin with a positive term.
  int64_t right = -d.constant;
  d.constant = 0;
  if (!ordered && right % common != 0) return Bool(op == CompareOp::kNe);
  const auto* first = &d.terms[0];
  for (const LinearSum::Term& term : d.terms) {
    if (DepthOf(term.atom) < DepthOf(first->atom)) first = &term;
  }
  if (first->coefficient > 0) {
    d = DivideExactly(d, common);
    right = DivideUp(right, common);
  } else {
    d = DivideExactly(d, -common);
    if (ordered) {
      // -x < right is x > -right, which is x >= 1 - right. After the division: x >= floor(-right /
      // common) + 1.
      right = FloorDivide(-right, common) + 1;
      op = op == CompareOp::kLt ? CompareOp::kGe : CompareOp::kLt;
    } else {
      right = -right / common;
    }
  }
  // x / c < right is x < right * c; x / c >= right is x >= right * c.
  int64_t divisor, scaled;
  const Expr* atom = d.single_atom();
  const Binary* quotient = atom == nullptr ? nullptr : atom->As<Binary>();
  if (ordered && right > 0 && quotient != nullptr && quotient->op == BinaryOp::kDiv &&
      AsInt(quotient->b, &divisor) && divisor > 0 && RangeOf(quotient->a).lo >= 0 &&
      !__builtin_mul_overflow(right, divisor, &scaled)) {
    return IndexCompare(op, quotient->a, Constant(scaled));
  }
  return Raw(Type::Of(DType::Bool()), Compare{op, FromLinear(d), Constant(right)});
}

// x / c * (k * c) + x % c * k is x * k.
bool Simplifier::MergeOneQuotient(LinearSum* sum) {
  for (const LinearSum::Term& term : sum->terms) {
    const auto* mod = term.atom.As<Binary>();
    int64_t c, scaled;
    if (mod == nullptr || mod->op != BinaryOp::kMod || !AsInt(mod->b, &c) || c <= 0) continue;
    if (__builtin_mul_overflow(term.coefficient, c, &scaled)) continue;
    const LinearSum& x = LinearOf(mod->a);
    const LinearSum& quotient = LinearOf(DivideIndex(x, c));
    const Expr* atom = quotient.single_atom();
    if (atom == nullptr || sum->CoefficientOf(atom->get()) != scaled) continue;
    LinearSum merged;
    const LinearSum remainder{.terms = {term}};
    if (AddScaled(*sum, remainder, -1, &merged) && AddScaled(merged, quotient, -scaled, &merged) &&
        AddScaled(merged, x, term.coefficient, &merged)) {
      *sum = std::move(merged);
      return true;
    }
  }
  // x * k - x / c * (k * c) is x % c * k.
  for (const LinearSum::Term& term : sum->terms) {
    const auto* div = term.atom.As<Binary>();
    int64_t c;
    if (div == nullptr || div->op != BinaryOp::kDiv || !AsInt(div->b, &c) || c <= 0) continue;
    const LinearSum& x = LinearOf(div->a);
    const Expr* atom = x.single_atom();
    if (atom == nullptr || term.coefficient % c != 0 || term.coefficient == Range::kNegInf)
      continue;
    const int64_t scale = -(term.coefficient / c);
    if (sum->CoefficientOf(atom->get()) != scale) continue;
    LinearSum merged;
    const LinearSum quotient{.terms = {term}};
    if (AddScaled(*sum, quotient, -1, &merged) && AddScaled(merged, x, -scale, &merged) &&
        AddScaled(merged, LinearOf(ModIndex(x, c)), scale, &merged)) {
      *sum = std::move(merged);
      return true;
    }
  }
  return false;
}

void Simplifier::MergeQuotients(LinearSum* sum) {
  while (sum->terms.size() > 1 && MergeOneQuotient(sum)) {
  }
}

}  // namespace kiln::loop
