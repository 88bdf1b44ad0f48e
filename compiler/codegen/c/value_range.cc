// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/value_range.h"

#include <algorithm>

namespace kiln::codegen {
namespace {

using loop::BinaryOp;
using loop::Expr;

constexpr int64_t kLimit = int64_t{1} << 62;
constexpr int kMaxDepth = 12;

std::optional<ValueRange> RangeAt(const Expr& e, int depth);

std::optional<ValueRange> RangeOfBinary(const loop::Binary& node, DType dtype, int depth) {
  const auto a = RangeAt(node.a, depth + 1);
  const auto b = RangeAt(node.b, depth + 1);
  const auto whole = RangeOf(dtype);
  if (!a || !b) return whole;
  const auto result = RangeOf(node.op, *a, *b);
  // A result outside of the type's range wraps around to any value.
  if (!result || (whole && (result->min < whole->min || result->max > whole->max))) return whole;
  return result;
}

std::optional<ValueRange> RangeAt(const Expr& e, int depth) {
  const DType dtype = e.type().dtype;
  if (dtype.is_float() || e.type().lanes != 1) return std::nullopt;
  const auto whole = RangeOf(dtype);
  if (depth > kMaxDepth) return whole;
  if (const auto* imm = e.As<loop::IntImm>()) {
    if (imm->value <= -kLimit || imm->value >= kLimit) return std::nullopt;
    return ValueRange{imm->value, imm->value};
  }
  if (const auto* cast = e.As<loop::Cast>()) {
    const auto from = RangeAt(cast->a, depth + 1);
    if (!from || (whole && (from->min < whole->min || from->max > whole->max))) return whole;
    if (dtype.is_uint() && from->min < 0) return whole;
    return from;
  }
  if (const auto* select = e.As<loop::Select>()) {
    const auto a = RangeAt(select->if_true, depth + 1);
    const auto b = RangeAt(select->if_false, depth + 1);
    if (!a || !b) return whole;
    return ValueRange{std::min(a->min, b->min), std::max(a->max, b->max)};
  }
  if (const auto* binary = e.As<loop::Binary>()) return RangeOfBinary(*binary, dtype, depth);
  if (const auto* unary = e.As<loop::Unary>()) {
    if (const std::optional<DType> to = loop::SaturationOf(unary->op)) {
      const ValueRange limits = *RangeOf(*to), a = RangeAt(unary->a, depth + 1).value_or(*whole);
      return ValueRange{std::clamp(a.min, limits.min, limits.max),
                        std::clamp(a.max, limits.min, limits.max)};
    }
  }
  return whole;
}

}  // namespace

std::optional<ValueRange> RangeOf(DType dtype) {
  if (dtype.is_bool()) return ValueRange{0, 1};
  if (dtype.is_float() || dtype.bits == 64) return std::nullopt;
  return ValueRange{dtype.MinInt(), dtype.MaxInt()};
}

std::optional<ValueRange> RangeOf(BinaryOp op, ValueRange a, ValueRange b) {
  // Operands are within 2^62, so sums fit. Products are only computed of factors within 2^31.
  constexpr int64_t kFactor = int64_t{1} << 31;
  switch (op) {
    case BinaryOp::kAdd: {
      const ValueRange sum = {a.min + b.min, a.max + b.max};
      if (sum.min <= -kLimit || sum.max >= kLimit) return std::nullopt;
      return sum;
    }
    case BinaryOp::kSub: {
      const ValueRange difference = {a.min - b.max, a.max - b.min};
      if (difference.min <= -kLimit || difference.max >= kLimit) return std::nullopt;
      return difference;
    }
    case BinaryOp::kMul: {
      if (std::min(a.min, b.min) < -kFactor || std::max(a.max, b.max) >= kFactor)
        return std::nullopt;
      const auto [min, max] =
          std::minmax({a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max});
      if (min <= -kLimit || max >= kLimit) return std::nullopt;
      return ValueRange{min, max};
    }
    case BinaryOp::kMin:
      return ValueRange{std::min(a.min, b.min), std::min(a.max, b.max)};
    case BinaryOp::kMax:
      return ValueRange{std::max(a.min, b.min), std::max(a.max, b.max)};
    default:
      return std::nullopt;
  }
}

std::optional<ValueRange> RangeOf(const Expr& e) { return RangeAt(e, 0); }

}  // namespace kiln::codegen
