// SPDX-License-Identifier: Apache-2.0
// Rules for expressions of all types, except the rules of index arithmetic.
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/simplifier.h"

namespace kiln::loop {
namespace {

bool SameNode(const Expr& a, const Expr& b) { return a.get() == b.get(); }

bool IsScalarIndex(const Expr& e) { return e.type().index && e.type().lanes == 1; }

// True for integer and bool types, which RangeOf can bound.
bool HasRange(const Type& type) { return !type.dtype.is_float(); }

bool IsBool(const Expr& e) { return e.type().dtype.is_bool() && !e.type().index; }

}  // namespace

Simplifier::Simplifier(const Bounds& bounds) {
  // All these variables have one depth, because the order of the map must not affect results. They
  // are ordered by their first occurrence.
  for (const auto& [var, interval] : bounds) {
    bindings_[var].push_back({.range = {interval.min, interval.max}, .depth = 0});
  }
}

void Simplifier::Bind(const Var& var, Range range) {
  if (range.is_point()) return BindValue(var, Constant(range.lo));
  bindings_[var.get()].push_back({.range = range, .depth = ++depth_});
  Forget();
}

void Simplifier::BindValue(const Var& var, Expr value) {
  bindings_[var.get()].push_back({.depth = ++depth_, .value = std::move(value)});
  Forget();
}

void Simplifier::Narrow(const Expr& atom, Range range) {
  const Expr pooled = pool_.Intern(atom);
  Binding binding{.range = Intersect(RangeOf(pooled), range), .depth = DepthOf(pooled)};
  const bool is_sum = IsSum(pooled);
  if (is_sum) ++narrowed_sums_;
  if (binding.range.is_point() && !is_sum) binding.value = Constant(binding.range.lo);
  bindings_[pooled.get()].push_back(std::move(binding));
  ++depth_;
  Forget();
}

void Simplifier::Unbind(const Expr& atom) {
  const Expr pooled = pool_.Intern(atom);
  if (IsSum(pooled)) --narrowed_sums_;
  auto it = bindings_.find(pooled.get());
  it->second.pop_back();
  if (it->second.empty()) bindings_.erase(it);
  --depth_;
  Forget();
}

bool Simplifier::IsSum(const Expr& e) {
  return e.type() == Type::Index() && LinearOf(e).terms.size() > 1;
}

void Simplifier::Forget() {
  // New maps, because clear() takes time in proportion to the largest size that a map has had.
  auto renew = [](auto& map) {
    if (!map.empty()) std::decay_t<decltype(map)>().swap(map);
  };
  renew(simplified_);
  renew(ranges_);
  renew(depths_);
}

Expr Simplifier::Raw(const Type& type, decltype(ExprNode::value) value) {
  return pool_.Intern(NewExpr(ExprNode{type, std::move(value)}));
}

Expr Simplifier::Simplify(const Expr& e) { return Visit(e); }

Expr Simplifier::Visit(const Expr& e) {
  if (auto it = simplified_.find(e.get()); it != simplified_.end()) return it->second.second;
  if (recursion_ == kMaxRecursion) {
    // Visits operands first. After that Visit does not recurse, however deep the expression is.
    recursion_ = 0;
    VisitExpr(e, [this](const Expr& node) { Visit(node); });
    recursion_ = kMaxRecursion;
    return Visit(e);
  }
  ++recursion_;
  Expr result = KnownValue(Rewrite(e));
  --recursion_;
  simplified_.emplace(e.get(), std::pair(e, result));
  simplified_.emplace(result.get(), std::pair(result, result));
  return result;
}

// Visits operands from left to right, in separate statements, because new nodes are numbered in the
// order in which they are visited.
Expr Simplifier::Rewrite(const Expr& e) {
  const Type& type = e.type();
  if (const auto* n = e.As<Unary>()) return RewriteUnary(type, n->op, Visit(n->a));
  if (const auto* n = e.As<Binary>()) {
    const Expr a = Visit(n->a);
    const Expr b = Visit(n->b);
    return RewriteBinary(type, n->op, a, b);
  }
  if (const auto* n = e.As<Fma>()) {
    const Expr a = Visit(n->a);
    const Expr b = Visit(n->b);
    const Expr c = Visit(n->c);
    return pool_.Intern(MakeFma(a, b, c));
  }
  if (const auto* n = e.As<Dot>()) {
    const Expr sum = Visit(n->sum);
    const Expr a = Visit(n->a);
    const Expr b = Visit(n->b);
    return pool_.Intern(MakeDot(n->kind, sum, a, b));
  }
  if (const auto* n = e.As<Interleave>()) {
    std::vector<Expr> operands;
    for (const Expr& operand : n->operands) operands.push_back(Visit(operand));
    return pool_.Intern(MakeInterleave(std::move(operands)));
  }
  if (const auto* n = e.As<Compare>()) {
    const Expr a = Visit(n->a);
    const Expr b = Visit(n->b);
    return RewriteCompare(type, n->op, a, b);
  }
  if (const auto* n = e.As<loop::Select>()) {
    const Expr condition = Visit(n->condition);
    const Expr if_true = Visit(n->if_true);
    const Expr if_false = Visit(n->if_false);
    return RewriteSelect(condition, if_true, if_false);
  }
  if (const auto* n = e.As<Cast>()) return RewriteCast(type, Visit(n->a));
  if (const auto* n = e.As<Bitcast>()) {
    return pool_.Intern(MakeBitcast(type.dtype, Visit(n->a)));
  }
  if (const auto* n = e.As<Load>()) {
    std::vector<Expr> index;
    index.reserve(n->index.size());
    for (const Expr& i : n->index) index.push_back(Visit(i));
    return pool_.Intern(MakeLoad(n->buffer, std::move(index)));
  }
  if (const auto* n = e.As<Ramp>()) {
    return pool_.Intern(MakeRamp(Visit(n->base), n->stride, n->lanes));
  }
  if (const auto* n = e.As<Broadcast>()) {
    return pool_.Intern(MakeBroadcast(Visit(n->a), n->lanes));
  }
  return pool_.Intern(e);
}

Expr Simplifier::RewriteCompare(const Type& type, CompareOp op, const Expr& a, const Expr& b) {
  if (!HasRange(a.type()) || a.type().dtype == DType::UInt(64)) {
    return pool_.Intern(MakeCompare(op, a, b));
  }
  if (IsScalarIndex(a)) return IndexCompare(op, a, b);
  const Range x = RangeOf(a);
  const Range y = RangeOf(b);
  const bool less = x.hi < y.lo;
  const bool greater = x.lo > y.hi;
  const bool not_less = x.lo >= y.hi && y.hi != Range::kPosInf && x.lo != Range::kNegInf;
  const bool not_greater = x.hi <= y.lo && x.hi != Range::kPosInf && y.lo != Range::kNegInf;
  const bool equal = x.is_point() && x == y;
  auto decided = [&](bool value) { return pool_.Intern(IntConst(type, value)); };
  switch (op) {
    case CompareOp::kEq:
      if (less || greater || equal) return decided(equal);
      break;
    case CompareOp::kNe:
      if (less || greater || equal) return decided(!equal);
      break;
    case CompareOp::kLt:
      if (less || not_less) return decided(less);
      break;
    case CompareOp::kLe:
      if (not_greater || greater) return decided(not_greater);
      break;
    case CompareOp::kGt:
      if (greater || not_greater) return decided(greater);
      break;
    case CompareOp::kGe:
      if (not_less || less) return decided(not_less);
      break;
  }
  return pool_.Intern(MakeCompare(op, a, b));
}

// Returns the value to which a variable, or an atom of a condition, is bound. Returns `e` if there
// is none.
Expr Simplifier::KnownValue(const Expr& e) {
  auto it = bindings_.find(e.get());
  const bool known = it != bindings_.end() && it->second.back().value.get() != nullptr;
  return known ? it->second.back().value : e;
}

Expr Simplifier::RewriteUnary(const Type& type, UnaryOp op, const Expr& a) {
  if (op == UnaryOp::kNeg && IsScalarIndex(a)) return IndexBinary(BinaryOp::kSub, Constant(0), a);
  if (op == UnaryOp::kAbs && HasRange(type) && RangeOf(a).lo >= 0) return a;
  const std::optional<DType> to = SaturationOf(op);
  if (to.has_value()) {
    // Keeps only the limits that a value may reach.
    const Range range = RangeOf(a), limits = Range::OfType(*to);
    if (range.within(limits)) return a;
    if (range.lo >= limits.lo) return Min(a, IntConst(type, limits.hi));
    if (range.hi <= limits.hi) return Max(a, IntConst(type, limits.lo));
  }
  if (op == UnaryOp::kNot && IsBool(a)) {
    if (const auto* n = a.As<Unary>(); n != nullptr && n->op == UnaryOp::kNot) return n->a;
    // The opposite of a comparison of floats would have a different result for NaN.
    if (const auto* n = a.As<Compare>(); n != nullptr && IsScalarIndex(n->a)) {
      static constexpr CompareOp kOpposite[] = {CompareOp::kNe, CompareOp::kEq, CompareOp::kGe,
                                                CompareOp::kGt, CompareOp::kLe, CompareOp::kLt};
      return IndexCompare(kOpposite[static_cast<int>(n->op)], n->a, n->b);
    }
  }
  return pool_.Intern(MakeUnary(op, a));
}

Expr Simplifier::RewriteBinary(const Type& type, BinaryOp op, const Expr& a, const Expr& b) {
  if (type.index) {
    return type.lanes == 1 ? IndexBinary(op, a, b) : RewriteVectorIndex(op, a, b);
  }
  if (type.dtype.is_bool()) return RewriteLogical(op, a, b);
  if (op == BinaryOp::kMin || op == BinaryOp::kMax) {
    if (SameNode(a, b)) return a;
    if (HasRange(type) && type.dtype != DType::UInt(64)) {
      const Range x = RangeOf(a);
      const Range y = RangeOf(b);
      if (x.hi <= y.lo && x.hi != Range::kPosInf && y.lo != Range::kNegInf) {
        return op == BinaryOp::kMin ? a : b;
      }
      if (y.hi <= x.lo && y.hi != Range::kPosInf && x.lo != Range::kNegInf) {
        return op == BinaryOp::kMin ? b : a;
      }
    }
  }
  if (HasRange(type)) {
    if (op == BinaryOp::kMul && (IsInt(a, 0) || IsInt(b, 0)))
      return pool_.Intern(IntConst(type, 0));
    if (SameNode(a, b)) {
      if (op == BinaryOp::kSub || op == BinaryOp::kXor) return pool_.Intern(IntConst(type, 0));
      if (op == BinaryOp::kAnd || op == BinaryOp::kOr) return a;
    }
  }
  return pool_.Intern(MakeBinary(op, a, b));
}

Expr Simplifier::RewriteLogical(BinaryOp op, const Expr& a, const Expr& b) {
  if (op == BinaryOp::kAnd || op == BinaryOp::kOr) {
    const int64_t neutral = op == BinaryOp::kAnd ? 1 : 0;
    if (SameNode(a, b) || IsInt(b, neutral) || IsInt(a, 1 - neutral)) return a;
    if (IsInt(a, neutral) || IsInt(b, 1 - neutral)) return b;
    // x >= 2 && x >= 5, x < 3 && x >= 3, …
    const auto* x = a.As<Compare>();
    const auto* y = b.As<Compare>();
    int64_t p, q;
    if (x != nullptr && y != nullptr && IsScalarIndex(x->a) && SameNode(x->a, y->a) &&
        AsInt(x->b, &p) && AsInt(y->b, &q)) {
      const bool conjunction = op == BinaryOp::kAnd;
      if (x->op == y->op && x->op == CompareOp::kLt) return conjunction == (p < q) ? a : b;
      if (x->op == y->op && x->op == CompareOp::kGe) return conjunction == (p > q) ? a : b;
      const bool less_first = x->op == CompareOp::kLt && y->op == CompareOp::kGe;
      if (less_first || (x->op == CompareOp::kGe && y->op == CompareOp::kLt)) {
        const int64_t below = less_first ? p : q;
        const int64_t from = less_first ? q : p;
        if (conjunction && below <= from) return Bool(false);
        if (!conjunction && below >= from) return Bool(true);
      }
    }
  }
  return pool_.Intern(MakeBinary(op, a, b));
}

Expr Simplifier::RewriteVectorIndex(BinaryOp op, const Expr& a, const Expr& b) {
  // Decomposes both operands into base + lane * stride, if they have that form.
  auto decompose = [](const Expr& e, Expr* base, int64_t* stride) {
    if (const auto* n = e.As<Broadcast>()) {
      *base = n->a;
      *stride = 0;
      return true;
    }
    if (const auto* n = e.As<Ramp>()) {
      *base = n->base;
      *stride = n->stride;
      return true;
    }
    return false;
  };
  const int lanes = a.type().lanes;
  Expr x, y;
  int64_t s, t, c;
  if (decompose(a, &x, &s) && decompose(b, &y, &t)) {
    if (s == 0 && t == 0) return pool_.Intern(MakeBroadcast(IndexBinary(op, x, y), lanes));
    Expr base;
    int64_t stride = 0;
    bool overflow = false;
    if (op == BinaryOp::kAdd || op == BinaryOp::kSub) {
      base = IndexBinary(op, x, y);
      overflow = op == BinaryOp::kAdd ? __builtin_add_overflow(s, t, &stride)
                                      : __builtin_sub_overflow(s, t, &stride);
    } else if (op == BinaryOp::kMul && t == 0 && AsInt(y, &c)) {
      base = IndexBinary(op, x, y);
      overflow = __builtin_mul_overflow(s, c, &stride);
    } else if (op == BinaryOp::kMul && s == 0 && AsInt(x, &c)) {
      base = IndexBinary(op, x, y);
      overflow = __builtin_mul_overflow(t, c, &stride);
    }
    if (base.get() != nullptr && !overflow) {
      return pool_.Intern(stride == 0 ? MakeBroadcast(base, lanes) : MakeRamp(base, stride, lanes));
    }
  }
  return pool_.Intern(MakeBinary(op, a, b));
}

Expr Simplifier::RewriteSelect(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  if (SameNode(if_true, if_false)) return if_true;
  if (int64_t c; AsInt(condition, &c)) {
    return pool_.Intern(MakeSelect(condition, if_true, if_false));
  }
  if (const auto* n = condition.As<Unary>(); n != nullptr && n->op == UnaryOp::kNot) {
    return RewriteSelect(n->a, if_false, if_true);
  }
  if (IsBool(if_true) && IsInt(if_true, 1) && IsInt(if_false, 0) &&
      condition.type() == if_true.type()) {
    return condition;
  }
  // An arm with the same condition.
  if (const auto* n = if_true.As<loop::Select>();
      n != nullptr && SameNode(n->condition, condition)) {
    return RewriteSelect(condition, n->if_true, if_false);
  }
  if (const auto* n = if_false.As<loop::Select>();
      n != nullptr && SameNode(n->condition, condition)) {
    return RewriteSelect(condition, if_true, n->if_false);
  }
  return pool_.Intern(MakeSelect(condition, if_true, if_false));
}

Expr Simplifier::RewriteCast(const Type& type, const Expr& a) {
  if (a.type() == type) return a;
  // A cast of integers that keeps every value may be skipped.
  if (const auto* n = a.As<Cast>();
      n != nullptr && HasRange(type) && HasRange(a.type()) && HasRange(n->a.type())) {
    const Range range = RangeOf(n->a);
    const bool keeps_value = n->a.type().dtype != DType::UInt(64) && range.bounded() &&
                             range.within(Range::OfType(a.type().dtype));
    if (keeps_value) return RewriteCast(type, n->a);
  }
  return pool_.Intern(MakeCast(type, a));
}

Expr Simplify(const Expr& e, const Bounds& bounds) {
  return e ? Simplifier(bounds).Simplify(e) : e;
}

Stmt Simplify(const Stmt& s, const Bounds& bounds) { return Simplifier(bounds).Simplify(s); }

}  // namespace kiln::loop
