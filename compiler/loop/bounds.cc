// SPDX-License-Identifier: Apache-2.0
// Ranges of integer expressions, from the ranges of variables and types.
#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "compiler/loop/mutate.h"
#include "compiler/loop/simplifier.h"

namespace kiln::loop {
namespace {

// Range of an operation that wraps around: `exact` if it fits into the type, otherwise the range of
// the type.
Range Wrapped(const Type& type, Range exact) {
  if (type.index) return exact;
  if (type.dtype == DType::UInt(64)) return exact.lo >= 0 && exact.bounded() ? exact : Range{};
  const Range all = Range::OfType(type.dtype);
  return exact.bounded() && exact.within(all) ? exact : all;
}

// True if a shift of a value of the type is by one known amount and 2^amount fits into an int64.
bool IsAmount(const Range& range, const Type& type) {
  return range.is_point() && range.lo >= 0 && range.lo < std::min<int64_t>(type.dtype.bits, 63);
}

// Range of floor((v + 2^(bits - 1)) / 2^bits) over all v in `range`.
Range RoundedShift(const Range& range, int bits) {
  const Range sum = Add(range, Range::Point(int64_t{1} << (bits - 1)));
  return sum.bounded() ? Range{sum.lo >> bits, sum.hi >> bits} : Range{};
}

}  // namespace

Range RangeOf(const Expr& e, const std::function<Range(const Buffer&)>& of_buffer) {
  Simplifier simplifier;
  VisitExpr(e, [&](const Expr& at) {
    const auto* load = at.As<Load>();
    if (load != nullptr && load->buffer->dtype.is_integral()) {
      simplifier.Narrow(at, of_buffer(load->buffer));
    }
  });
  return simplifier.RangeOf(e);
}

Range Simplifier::RangeOf(const Expr& e) {
  if (auto it = ranges_.find(e.get()); it != ranges_.end()) return it->second;
  const Expr pooled = pool_.Intern(e);
  Range range = ComputeRange(pooled);
  if (auto it = bindings_.find(pooled.get()); it != bindings_.end()) {
    const Binding& binding = it->second.back();
    range = binding.value.get() != nullptr ? RangeOf(binding.value) : binding.range;
  }
  ranges_.emplace(pooled.get(), range);
  return range;
}

Range Simplifier::RangeOf(const LinearSum& sum) {
  Range range = Range::Point(sum.constant);
  for (const LinearSum::Term& term : sum.terms) {
    range = Add(range, Multiply(RangeOf(term.atom), Range::Point(term.coefficient)));
  }
  if (narrowed_sums_ == 0 || sum.terms.size() < 2) return range;
  LinearSum terms = sum;
  terms.constant = 0;
  const auto known = bindings_.find(FromLinear(terms).get());
  if (known == bindings_.end()) return range;
  return Intersect(range, Add(known->second.back().range, Range::Point(sum.constant)));
}

Range Simplifier::ComputeRange(const Expr& e) {
  const Type& type = e.type();
  if (type.dtype.is_float()) return {};
  if (type.index && type.lanes == 1) {
    const LinearSum& sum = LinearOf(e);
    if (sum.single_atom() == nullptr) return RangeOf(sum);
  }
  if (const auto* n = e.As<IntImm>()) return Wrapped(type, Range::Point(n->value));
  if (const auto* n = e.As<Binary>()) return Wrapped(type, RangeOfBinary(*n));
  if (const auto* n = e.As<Unary>()) {
    if (n->op == UnaryOp::kNeg) return Wrapped(type, Negate(RangeOf(n->a)));
    if (n->op == UnaryOp::kAbs) {
      const Range a = RangeOf(n->a);
      return Wrapped(type, MaxOf(a.lo >= 0 ? a : Range{0, Range::kPosInf}, MaxOf(a, Negate(a))));
    }
    if (const std::optional<DType> to = SaturationOf(n->op); to.has_value()) {
      const Range limits = Range::OfType(*to), a = RangeOf(n->a);
      return MaxOf(MinOf(a, Range::Point(limits.hi)), Range::Point(limits.lo));
    }
  }
  if (const auto* n = e.As<loop::Select>()) return Union(RangeOf(n->if_true), RangeOf(n->if_false));
  if (const auto* n = e.As<Cast>(); n != nullptr && !n->a.type().dtype.is_float()) {
    if (type.dtype.is_bool()) return {0, 1};
    if (n->a.type().dtype == DType::UInt(64)) return Wrapped(type, {});
    return Wrapped(type, RangeOf(n->a));
  }
  if (const auto* n = e.As<Ramp>()) {
    const Range step = Multiply(Range::Point(n->stride), {0, n->lanes - 1});
    return Add(RangeOf(n->base), step);
  }
  if (const auto* n = e.As<Broadcast>()) return RangeOf(n->a);
  return type.index ? Range{} : Range::OfType(type.dtype);
}

Range Simplifier::RangeOfBinary(const Binary& e) {
  const bool unsigned64 = !e.a.type().index && e.a.type().dtype == DType::UInt(64);
  const Range a = RangeOf(e.a);
  const Range b = RangeOf(e.b);
  switch (e.op) {
    case BinaryOp::kAdd:
      return Add(a, b);
    case BinaryOp::kSub:
      return Add(a, Negate(b));
    case BinaryOp::kMul:
      return Multiply(a, b);
    case BinaryOp::kDiv:
      if (unsigned64) return {};
      return b.is_point() && b.lo > 0 ? TruncatingDivide(a, b.lo) : Range{};
    case BinaryOp::kMod:
      if (unsigned64) return {};
      return b.is_point() && b.lo > 0 ? TruncatingMod(a, b.lo) : Range{};
    case BinaryOp::kMin:
      return unsigned64 ? Range{} : MinOf(a, b);
    case BinaryOp::kMax:
      return unsigned64 ? Range{} : MaxOf(a, b);
    case BinaryOp::kAnd:
      if (a.lo >= 0 && b.lo >= 0) return {0, std::min(a.hi, b.hi)};
      return {};
    case BinaryOp::kShl:
      if (!IsAmount(b, e.a.type())) return {};
      return Multiply(a, Range::Point(int64_t{1} << b.lo));
    case BinaryOp::kShr:
      if (unsigned64 || !a.bounded()) return {};
      if (IsAmount(b, e.a.type())) return {a.lo >> b.lo, a.hi >> b.lo};
      return {std::min<int64_t>(a.lo, 0), std::max<int64_t>(a.hi, 0)};
    case BinaryOp::kRoundingMulHigh:
      return RoundedShift(Multiply(a, b), 31);
    case BinaryOp::kRoundingMulTop:
      return RoundedShift(Multiply(a, b), 32);
    case BinaryOp::kRoundingShr:
      return Union(a, Range::Point(0));
    default:
      return {};
  }
}

int Simplifier::DepthOf(const Expr& e) {
  if (auto it = depths_.find(e.get()); it != depths_.end()) return it->second;
  int depth = 0;
  auto see = [&](const Expr& operand) { depth = std::max(depth, DepthOf(operand)); };
  if (e.As<VarNode>() != nullptr) {
    auto it = bindings_.find(e.get());
    depth = it == bindings_.end() ? 0 : it->second.back().depth;
  } else if (const auto* n = e.As<Binary>()) {
    see(n->a), see(n->b);
  } else if (const auto* n = e.As<Unary>()) {
    see(n->a);
  } else if (const auto* n = e.As<Compare>()) {
    see(n->a), see(n->b);
  } else if (const auto* n = e.As<loop::Select>()) {
    see(n->condition), see(n->if_true), see(n->if_false);
  } else if (const auto* n = e.As<Cast>()) {
    see(n->a);
  } else if (const auto* n = e.As<Load>()) {
    for (const Expr& index : n->index) see(index);
  }
  depths_.emplace(e.get(), depth);
  return depth;
}

bool BoundsOf(const Expr& e, const Bounds& bounds, Interval* out) {
  if (e.get() == nullptr || e.type().dtype.is_float()) return false;
  Simplifier simplifier(bounds);
  const Range range = simplifier.RangeOf(simplifier.Simplify(e));
  if (!range.bounded()) return false;
  *out = {range.lo, range.hi};
  return true;
}

}  // namespace kiln::loop
