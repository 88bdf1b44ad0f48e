// SPDX-License-Identifier: Apache-2.0
// float16 is storage: values of it are loaded, stored, selected and converted to and from float32.
// Here they become their bits, and the two conversions arithmetic that gives every bit that
// HalfFromFloat and FloatFromHalf (base/tensor.h) give.
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/replace_operands.h"

namespace kiln::loop {
namespace {

constexpr DType kHalf = DType::Float(16);
constexpr DType kFloat = DType::Float(32);
constexpr DType kBits16 = DType::UInt(16);
constexpr DType kBits32 = DType::UInt(32);

Expr Bits(const Expr& like, int64_t value) { return IntConst(like.type(), value); }

Expr BitAnd(const Expr& a, int64_t mask) { return MakeBinary(BinaryOp::kAnd, a, Bits(a, mask)); }
Expr BitOr(const Expr& a, const Expr& b) { return MakeBinary(BinaryOp::kOr, a, b); }
Expr ShiftLeft(const Expr& a, int count) { return MakeBinary(BinaryOp::kShl, a, Bits(a, count)); }
Expr ShiftRight(const Expr& a, int count) { return MakeBinary(BinaryOp::kShr, a, Bits(a, count)); }

// `value` in the type of `like`, a float32.
Expr FloatLike(const Expr& like, double value) { return FloatConst(like.type(), value); }

// The float32 value of float16 bits.
Expr FloatFromHalfBits(const Expr& half) {
  const Expr bits = MakeCast(kBits32, half);
  const Expr sign = ShiftLeft(BitAnd(bits, 0x8000), 16);
  const Expr magnitude = BitAnd(bits, 0x7fff);
  const Expr infinite_or_nan = BitOr(ShiftLeft(magnitude, 13), Bits(bits, 0x7f800000));
  const Expr normal = ShiftLeft(magnitude, 13) + Bits(bits, 0x38000000);
  const Expr units = MakeCast(kFloat, magnitude);
  const Expr subnormal = MakeBitcast(kBits32, units * FloatLike(units, 0x1p-24));
  const Expr unsigned_bits =
      MakeSelect(magnitude >= Bits(bits, 0x7c00), infinite_or_nan,
                 MakeSelect(magnitude >= Bits(bits, 0x400), normal, subnormal));
  return MakeBitcast(kFloat, BitOr(unsigned_bits, sign));
}

// The float16 bits of a float32 value, rounded to nearest even.
Expr HalfBitsFromFloat(const Expr& value) {
  const Expr bits = MakeBitcast(kBits32, value);
  const Expr sign = BitAnd(ShiftRight(bits, 16), 0x8000);
  const Expr magnitude = BitAnd(bits, 0x7fffffff);
  // Half of the last place that stays, less one where that place is even; the carry may run into
  // the exponent, up to infinity.
  const Expr rounded = magnitude + Bits(bits, 0xfff) + BitAnd(ShiftRight(magnitude, 13), 1);
  const Expr normal = ShiftRight(rounded - Bits(bits, 0x38000000), 13);
  // Below 2^-14: a subnormal, 2^-24 a unit.
  const Expr units = MakeBitcast(kFloat, magnitude);
  const Expr subnormal =
      MakeCast(kBits32, MakeUnary(UnaryOp::kRoundEven, units * FloatLike(units, 0x1p24)));
  const Expr finite = MakeSelect(magnitude >= Bits(bits, 0x38800000), normal, subnormal);
  const Expr infinite_or_nan =
      MakeSelect(magnitude > Bits(bits, 0x7f800000), Bits(bits, 0x7e00), Bits(bits, 0x7c00));
  return MakeCast(kBits16, BitOr(sign, MakeSelect(magnitude >= Bits(bits, 0x47800000),
                                                  infinite_or_nan, finite)));
}

class Float16Legalizer {
 public:
  Stmt Visit(const Stmt& s) {
    if (!s) return s;
    if (const auto* n = s.As<For>()) {
      return MakeFor(n->var, Visit(n->begin), Visit(n->extent), n->kind, Visit(n->body));
    }
    if (const auto* n = s.As<Store>()) {
      Expr value = Visit(n->value);
      if (n->buffer->dtype == kHalf) value = MakeBitcast(kHalf, std::move(value));
      return MakeStore(n->buffer, Visit(n->index), std::move(value));
    }
    if (const auto* n = s.As<Block>()) {
      std::vector<Stmt> stmts;
      for (const Stmt& stmt : n->stmts) stmts.push_back(Visit(stmt));
      return MakeBlock(std::move(stmts));
    }
    if (const auto* n = s.As<If>()) {
      return MakeIf(Visit(n->condition), Visit(n->then_body), Visit(n->else_body));
    }
    if (const auto* n = s.As<Allocate>()) {
      return MakeAllocate(n->buffer, Visit(n->body), n->workspace_offset);
    }
    if (const auto* n = s.As<Call>())
      return MakeCall(n->function, Visit(n->args), n->profile_index);
    const auto* n = s.As<Launch>();
    return MakeLaunch(n->function, n->max_tasks, Visit(n->args));
  }

 private:
  std::vector<Expr> Visit(const std::vector<Expr>& exprs) {
    std::vector<Expr> legal;
    for (const Expr& e : exprs) legal.push_back(Visit(e));
    return legal;
  }

  std::vector<Argument> Visit(std::vector<Argument> args) {
    for (Argument& arg : args) arg.offset = Visit(arg.offset);
    return args;
  }

  Expr Visit(const Expr& e) {
    VisitExpr(e, [this](const Expr& node) {
      if (!legal_.contains(node.get())) legal_.emplace(node.get(), std::pair(node, Legalize(node)));
    });
    return Legal(e);
  }

  Expr Legal(const Expr& e) const { return legal_.at(e.get()).second; }

  // The operands are legal already: those of type float16 are uint16.
  Expr Legalize(const Expr& e) {
    const Type& type = e.type();
    if (type.dtype == kHalf) {
      if (const auto* n = e.As<FloatImm>()) {
        return IntConst(Type::Of(kBits16), HalfFromFloat(static_cast<float>(n->value)));
      }
      if (const auto* n = e.As<Cast>()) return HalfBitsFromFloat(Legal(n->a));
      if (const auto* n = e.As<Bitcast>()) return MakeBitcast(kBits16, Legal(n->a));
      if (const auto* n = e.As<Select>()) {
        return MakeSelect(Legal(n->condition), Legal(n->if_true), Legal(n->if_false));
      }
      if (const auto* n = e.As<Broadcast>()) return MakeBroadcast(Legal(n->a), n->lanes);
    }
    if (const auto* n = e.As<Cast>(); n != nullptr && n->a.type().dtype == kHalf) {
      return FloatFromHalfBits(Legal(n->a));
    }
    if (const auto* n = e.As<Bitcast>(); n != nullptr && n->a.type().dtype == kHalf) {
      return MakeBitcast(type.dtype, Legal(n->a));
    }
    const Expr legal = ReplaceOperands(e, [this](const Expr& operand) { return Legal(operand); });
    return type.dtype == kHalf ? MakeBitcast(kBits16, legal) : legal;
  }

  std::unordered_map<const ExprNode*, std::pair<Expr, Expr>> legal_;
};

}  // namespace

Stmt LegalizeFloat16(const Stmt& s) { return Float16Legalizer().Visit(s); }

}  // namespace kiln::loop
