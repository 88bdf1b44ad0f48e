// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/saturation.h"

#include <cstdint>

#include "compiler/loop/expr_node.h"

namespace kiln::codegen {
namespace {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;

// The operation of a value and a number, the same for all lanes; null if it is something else.
const Binary* WithNumber(const Expr& e, BinaryOp op, int64_t* number) {
  const auto* binary = e.As<Binary>();
  if (binary == nullptr || binary->op != op) return nullptr;
  const auto* all = binary->b.As<loop::Broadcast>();
  return loop::AsInt(all == nullptr ? binary->b : all->a, number) ? binary : nullptr;
}

}  // namespace

std::optional<Saturation> AsSaturation(const Expr& e) {
  if (e.type().index || e.type().dtype != DType::Int(32)) return std::nullopt;
  int64_t least = 0, most = 0;
  const Binary* const at_least = WithNumber(e, BinaryOp::kMax, &least);
  const Binary* const at_most =
      at_least == nullptr ? nullptr : WithNumber(at_least->a, BinaryOp::kMin, &most);
  if (at_most == nullptr) return std::nullopt;
  for (const DType to : {DType::Int(8), DType::UInt(8), DType::Int(16), DType::UInt(16)}) {
    if (least == to.MinInt() && most == static_cast<int64_t>(to.MaxInt())) {
      return Saturation{at_most->a, to};
    }
  }
  return std::nullopt;
}

}  // namespace kiln::codegen
