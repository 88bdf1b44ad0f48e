// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/value_range.h"

#include <algorithm>

namespace kiln::schedule {
namespace {

using loop::BinaryOp;
using loop::Range;

// Arithmetic wraps around: a result that may leave its type may be anything.
Range InType(const Range& exact, const loop::Type& type) {
  const Range of_type = Range::OfType(type.dtype);
  return exact.bounded() && exact.within(of_type) ? exact : of_type;
}

// floor((v + half) / 2^bits) of all v in a range.
Range RoundedShift(const Range& range, int bits) {
  if (!range.bounded()) return {};
  const int64_t half = int64_t{1} << (bits - 1);
  const Range sum = loop::Add(range, Range::Point(half));
  return sum.bounded() ? Range{sum.lo >> bits, sum.hi >> bits} : Range{};
}

}  // namespace

Range ValueRanges::Of(const Expr& e) {
  if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
  const Range range = e.type().dtype.is_integral() ? InType(Compute(e), e.type()) : Range();
  known_[e.get()] = range;
  kept_.push_back(e);
  return range;
}

Range ValueRanges::Compute(const Expr& e) {
  if (const auto* n = e.As<loop::IntImm>()) return Range::Point(n->value);
  if (const auto* n = e.As<loop::Load>()) return OfBuffer(n->buffer);
  if (const auto* n = e.As<loop::Cast>()) {
    return n->a.type().dtype.is_integral() ? Of(n->a) : Range();
  }
  if (const auto* n = e.As<loop::Select>()) return loop::Union(Of(n->if_true), Of(n->if_false));
  if (const auto* n = e.As<loop::Binary>()) return OfBinary(*n);
  return {};
}

Range ValueRanges::OfBinary(const loop::Binary& e) {
  const Range a = Of(e.a), b = Of(e.b);
  const bool by_constant = b.is_point() && b.lo >= 0 && b.lo < e.a.type().dtype.bits;
  switch (e.op) {
    case BinaryOp::kAdd:
      return loop::Add(a, b);
    case BinaryOp::kSub:
      return loop::Add(a, loop::Negate(b));
    case BinaryOp::kMul:
      return loop::Multiply(a, b);
    case BinaryOp::kMin:
      return loop::MinOf(a, b);
    case BinaryOp::kMax:
      return loop::MaxOf(a, b);
    case BinaryOp::kShl:
      return by_constant ? loop::Multiply(a, Range::Point(int64_t{1} << b.lo)) : Range();
    case BinaryOp::kShr:
      if (!a.bounded()) return {};
      if (by_constant) return {a.lo >> b.lo, a.hi >> b.lo};
      return {std::min<int64_t>(a.lo, 0), std::max<int64_t>(a.hi, 0)};
    case BinaryOp::kRoundingMulHigh:
      return RoundedShift(loop::Multiply(a, b), 31);
    case BinaryOp::kRoundingMulTop:
      return RoundedShift(loop::Multiply(a, b), 32);
    case BinaryOp::kRoundingShr:
      return loop::Union(a, Range::Point(0));
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
      return {};
  }
  return {};
}

Range ValueRanges::OfBuffer(const Buffer& buffer) {
  if (const auto found = buffers_.find(buffer.get()); found != buffers_.end()) return found->second;
  Range range = Range::OfType(buffer->dtype);
  if (const loop::Constant* constant = FindConstant(context_, buffer);
      constant != nullptr && buffer->dtype.is_integral()) {
    const int64_t count = buffer->num_elements();
    for (int64_t i = 0; i < count; ++i) {
      const Range value = Range::Point(constant->tensor.AsInt(i));
      range = i == 0 ? value : loop::Union(range, value);
    }
  }
  buffers_[buffer.get()] = range;
  return range;
}

void ValueRanges::Define(const Stage& stage) {
  if (stage.update || !stage.buffer->dtype.is_integral()) return;
  const Range terms = Of(stage.value), of_type = Range::OfType(stage.buffer->dtype);
  Range range = of_type;
  if (stage.combine == loop::Combine::kNone) range = terms;
  if (stage.combine == loop::Combine::kSum) {
    range =
        loop::Add(loop::Multiply(terms, Range::Point(TotalExtent(stage.reduce))), Of(stage.init));
  }
  buffers_[stage.buffer.get()] = range.bounded() && range.within(of_type) ? range : of_type;
}

}  // namespace kiln::schedule
