// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/loop/mutate.h"

namespace kiln::loop {
namespace {

const Binary* ProductOf(const Expr& e) {
  const auto* binary = e.As<Binary>();
  return binary != nullptr && binary->op == BinaryOp::kMul ? binary : nullptr;
}

}  // namespace

Expr FuseMultiplyAdds(const Expr& e) {
  return MutateExpr(e, [](const Expr& sum) -> Expr {
    const auto* binary = sum.As<Binary>();
    if (binary == nullptr || sum.type().dtype != DType::Float(32)) return {};
    const Binary *left = ProductOf(binary->a), *right = ProductOf(binary->b);
    if (binary->op == BinaryOp::kAdd) {
      if (left != nullptr) return MakeFma(left->a, left->b, binary->b);
      if (right != nullptr) return MakeFma(right->a, right->b, binary->a);
    } else if (binary->op == BinaryOp::kSub) {
      if (right != nullptr) {
        const bool folds = right->b.As<FloatImm>() != nullptr;  // negating a literal is free
        return folds ? MakeFma(right->a, -right->b, binary->a)
                     : MakeFma(-right->a, right->b, binary->a);
      }
      if (left != nullptr) return MakeFma(left->a, left->b, -binary->b);
    }
    return {};
  });
}

}  // namespace kiln::loop
