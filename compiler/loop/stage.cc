// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/stage.h"

#include <cmath>
#include <utility>

#include "compiler/loop/check.h"

namespace kiln::loop {
namespace {

bool MayBeNan(const Expr& x) {
  if (!x.type().dtype.is_float()) return false;
  const auto* literal = x.As<FloatImm>();
  return literal == nullptr || std::isnan(literal->value);
}

// `of` is Max or Min, which keep a NaN of their first operand.
Expr KeepingNan(Expr (*of)(Expr, Expr), Expr a, Expr b) {
  if (!MayBeNan(b)) return of(std::move(a), std::move(b));
  if (!MayBeNan(a)) return of(std::move(b), std::move(a));
  return MakeSelect(b != b, b, of(std::move(a), b));
}

}  // namespace

Expr Maximum(Expr a, Expr b) { return KeepingNan(Max, std::move(a), std::move(b)); }
Expr Minimum(Expr a, Expr b) { return KeepingNan(Min, std::move(a), std::move(b)); }

Expr CombineExprs(Combine combine, Expr acc, Expr term) {
  switch (combine) {
    case Combine::kSum:
      return acc + term;
    case Combine::kProd:
      return acc * term;
    case Combine::kMax:
      return Maximum(std::move(acc), std::move(term));
    case Combine::kMin:
      return Minimum(std::move(acc), std::move(term));
    case Combine::kMaxOfNumbers:
      return Max(std::move(acc), std::move(term));
    case Combine::kNone:
      break;
  }
  KILN_CHECK(false, "a stage without a reduction combines nothing");
}

}  // namespace kiln::loop
