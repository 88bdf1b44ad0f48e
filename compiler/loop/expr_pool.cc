// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/expr_pool.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <variant>

#include "compiler/loop/expr_node.h"
#include "compiler/loop/replace_operands.h"

namespace kiln::loop {
namespace {

class Hasher {
 public:
  void Add(uint64_t v) {
    state_ ^= v + 0x9e3779b97f4a7c15u + (state_ << 6) + (state_ >> 2);
    state_ *= 0xff51afd7ed558ccdu;
    state_ ^= state_ >> 32;
  }
  void Add(const Expr& e) { Add(reinterpret_cast<uintptr_t>(e.get())); }
  size_t state() const { return state_; }

 private:
  uint64_t state_ = 0;
};

bool Same(const Expr& a, const Expr& b) { return a.get() == b.get(); }

bool Same(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return Same(x, y); });
}

}  // namespace

size_t ExprPool::Hash::operator()(const Expr& e) const {
  Hasher h;
  h.Add(e->value.index());
  h.Add(static_cast<uint64_t>(e.type().dtype.bits) << 32 | static_cast<uint64_t>(e.type().lanes));
  std::visit(
      Overloaded{
          [&](const IntImm& n) { h.Add(static_cast<uint64_t>(n.value)); },
          [&](const FloatImm& n) { h.Add(std::bit_cast<uint64_t>(n.value)); },
          [&](const VarNode&) { h.Add(e); },
          [&](const Unary& n) { h.Add(static_cast<uint64_t>(n.op)), h.Add(n.a); },
          [&](const Binary& n) { h.Add(static_cast<uint64_t>(n.op)), h.Add(n.a), h.Add(n.b); },
          [&](const Fma& n) { h.Add(n.a), h.Add(n.b), h.Add(n.c); },
          [&](const Dot& n) {
            h.Add(static_cast<uint64_t>(n.kind.group)), h.Add(n.sum), h.Add(n.a), h.Add(n.b);
          },
          [&](const Interleave& n) {
            for (const Expr& operand : n.operands) h.Add(operand);
          },
          [&](const Compare& n) { h.Add(static_cast<uint64_t>(n.op)), h.Add(n.a), h.Add(n.b); },
          [&](const Select& n) { h.Add(n.condition), h.Add(n.if_true), h.Add(n.if_false); },
          [&](const Cast& n) { h.Add(n.a); },
          [&](const Bitcast& n) { h.Add(n.a); },
          [&](const Load& n) {
            h.Add(reinterpret_cast<uintptr_t>(n.buffer.get()));
            for (const Expr& index : n.index) h.Add(index);
          },
          [&](const Ramp& n) { h.Add(n.base), h.Add(static_cast<uint64_t>(n.stride)); },
          [&](const Broadcast& n) { h.Add(n.a); },
      },
      e->value);
  return h.state();
}

bool ExprPool::Equal::operator()(const Expr& a, const Expr& b) const {
  if (a.get() == b.get()) return true;
  if (a->value.index() != b->value.index() || a.type() != b.type()) return false;
  return std::visit(
      Overloaded{
          [&](const IntImm& n) { return n.value == b.As<IntImm>()->value; },
          [&](const FloatImm& n) {
            return std::bit_cast<uint64_t>(n.value) ==
                   std::bit_cast<uint64_t>(b.As<FloatImm>()->value);
          },
          [&](const VarNode&) { return false; },
          [&](const Unary& n) {
            const Unary& m = *b.As<Unary>();
            return n.op == m.op && Same(n.a, m.a);
          },
          [&](const Binary& n) {
            const Binary& m = *b.As<Binary>();
            return n.op == m.op && Same(n.a, m.a) && Same(n.b, m.b);
          },
          [&](const Fma& n) {
            const Fma& m = *b.As<Fma>();
            return Same(n.a, m.a) && Same(n.b, m.b) && Same(n.c, m.c);
          },
          [&](const Dot& n) {
            const Dot& m = *b.As<Dot>();
            return n.kind == m.kind && Same(n.sum, m.sum) && Same(n.a, m.a) && Same(n.b, m.b);
          },
          [&](const Interleave& n) { return Same(n.operands, b.As<Interleave>()->operands); },
          [&](const Compare& n) {
            const Compare& m = *b.As<Compare>();
            return n.op == m.op && Same(n.a, m.a) && Same(n.b, m.b);
          },
          [&](const Select& n) {
            const Select& m = *b.As<Select>();
            return Same(n.condition, m.condition) && Same(n.if_true, m.if_true) &&
                   Same(n.if_false, m.if_false);
          },
          [&](const Cast& n) { return Same(n.a, b.As<Cast>()->a); },
          [&](const Bitcast& n) { return Same(n.a, b.As<Bitcast>()->a); },
          [&](const Load& n) {
            const Load& m = *b.As<Load>();
            return n.buffer == m.buffer && Same(n.index, m.index);
          },
          [&](const Ramp& n) {
            const Ramp& m = *b.As<Ramp>();
            return Same(n.base, m.base) && n.stride == m.stride && n.lanes == m.lanes;
          },
          [&](const Broadcast& n) { return Same(n.a, b.As<Broadcast>()->a); },
      },
      a->value);
}

Expr ExprPool::Intern(const Expr& e) {
  Seen seen;
  return Intern(e, seen);
}

Expr ExprPool::Intern(const Expr& e, Seen& seen) {
  if (ids_.contains(e.get())) return e;
  if (const auto known = seen.find(e.get()); known != seen.end()) return known->second;
  auto [it, inserted] =
      nodes_.insert(ReplaceOperands(e, [&](const Expr& operand) { return Intern(operand, seen); }));
  if (inserted) ids_.emplace(it->get(), static_cast<int>(ids_.size()));
  return seen[e.get()] = *it;
}

}  // namespace kiln::loop
