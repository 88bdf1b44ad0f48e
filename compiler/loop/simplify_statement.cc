// SPDX-License-Identifier: Apache-2.0
// Statements: loops, conditions and scopes restrict the ranges of variables in their bodies.
#include <utility>
#include <vector>

#include "compiler/loop/simplifier.h"

namespace kiln::loop {
namespace {

bool IsEmpty(const Stmt& s) { return !s || (s.As<Block>() && s.As<Block>()->stmts.empty()); }

// Returns the range of the values x for which the comparison of x with a constant is `holds`.
Range Fulfilling(const Compare& compare, bool holds) {
  int64_t c;
  if (!AsInt(compare.b, &c) || c == Range::kNegInf) return {};
  switch (compare.op) {
    case CompareOp::kLt:
      return holds ? Range{Range::kNegInf, c - 1} : Range{c, Range::kPosInf};
    case CompareOp::kGe:
      return holds ? Range{c, Range::kPosInf} : Range{Range::kNegInf, c - 1};
    case CompareOp::kEq:
      return holds ? Range::Point(c) : Range{};
    case CompareOp::kNe:
      return holds ? Range{} : Range::Point(c);
    default:
      return {};
  }
}

}  // namespace

Stmt Simplifier::Simplify(const Stmt& s) {
  if (!s) return s;
  if (const auto* n = s.As<For>()) return SimplifyFor(*n);
  if (const auto* n = s.As<If>()) return SimplifyIf(*n);
  if (const auto* n = s.As<Store>()) {
    std::vector<Expr> index;
    index.reserve(n->index.size());
    for (const Expr& i : n->index) index.push_back(Simplify(i));
    Expr value = Simplify(n->value);
    return MakeStore(n->buffer, std::move(index), std::move(value));
  }
  if (const auto* n = s.As<Prefetch>())
    return MakePrefetch(n->buffer, Simplify(n->offset), n->level);
  if (const auto* n = s.As<Block>()) {
    std::vector<Stmt> stmts;
    stmts.reserve(n->stmts.size());
    for (const Stmt& stmt : n->stmts) stmts.push_back(Simplify(stmt));
    return MakeBlock(std::move(stmts));
  }
  if (const auto* n = s.As<Allocate>()) {
    Stmt body = Simplify(n->body);
    return IsEmpty(body) ? Stmt() : MakeAllocate(n->buffer, std::move(body), n->workspace_offset);
  }
  auto simplified = [this](std::vector<Argument> args) {
    for (Argument& arg : args) arg.offset = Simplify(arg.offset);
    return args;
  };
  if (const auto* n = s.As<Call>())
    return MakeCall(n->function, simplified(n->args), n->profile_index);
  if (const auto* n = s.As<Launch>()) {
    return MakeLaunch(n->function, n->max_tasks, simplified(n->args));
  }
  if (const auto* n = s.As<Fail>()) return MakeFail(n->before, Simplify(n->number), n->after);
  return s;
}

Stmt Simplifier::SimplifyFor(const For& loop) {
  const Expr begin = Simplify(loop.begin);
  const Expr extent = Simplify(loop.extent);
  const Range extents = RangeOf(extent);
  if (extents.hi <= 0) return {};
  if (extents == Range::Point(1)) {
    BindValue(loop.var, begin);
    Stmt body = Simplify(loop.body);
    Unbind(loop.var);
    return body;
  }
  Bind(loop.var, RangeOfLoop(begin, extent));
  Stmt body = Simplify(loop.body);
  Unbind(loop.var);
  return IsEmpty(body) ? Stmt() : MakeFor(loop.var, begin, extent, loop.kind, std::move(body));
}

Range Simplifier::RangeOfLoop(const Expr& begin, const Expr& extent) {
  // The range of the end may be narrower than that of begin + extent, because both often share a
  // term.
  const Range end = RangeOf(IndexBinary(BinaryOp::kAdd, begin, extent));
  return {RangeOf(begin).lo, Add(end, Range::Point(-1)).hi};
}

void Simplifier::BindLoop(const For& loop) {
  const Expr begin = Simplify(loop.begin);
  const Expr extent = Simplify(loop.extent);
  Bind(loop.var, RangeOfLoop(begin, extent));
}

Stmt Simplifier::SimplifyIf(const If& branch) {
  const Expr condition = Simplify(branch.condition);
  if (int64_t value; AsInt(condition, &value)) {
    return Simplify(value != 0 ? branch.then_body : branch.else_body);
  }
  Stmt then_body = SimplifyUnder(condition, true, branch.then_body);
  Stmt else_body = SimplifyUnder(condition, false, branch.else_body);
  if (IsEmpty(then_body) && IsEmpty(else_body)) return {};
  if (IsEmpty(then_body)) return MakeIf(Simplify(Not(condition)), std::move(else_body));
  return MakeIf(condition, std::move(then_body), std::move(else_body));
}

// Simplifies `s` under the assumption that `condition` is `holds`. If it compares an atom or a sum
// with a constant, this narrows its range. A conjunction that is true, or a disjunction that is
// false, does so for both of its parts.
Stmt Simplifier::SimplifyUnder(const Expr& condition, bool holds, const Stmt& s) {
  std::vector<Expr> facts = {condition};
  std::vector<Expr> narrowed;
  bool possible = true;
  while (!facts.empty()) {
    const Expr fact = facts.back();
    facts.pop_back();
    if (const auto* n = fact.As<Binary>();
        n != nullptr && n->op == (holds ? BinaryOp::kAnd : BinaryOp::kOr)) {
      facts.push_back(n->b);
      facts.push_back(n->a);
    } else if (const auto* n = fact.As<Compare>(); n != nullptr && n->a.type() == Type::Index()) {
      const Range fulfilling = Fulfilling(*n, holds);
      const Range range = RangeOf(n->a);
      const bool is_atom = LinearOf(n->a).single_atom() != nullptr;
      if (fulfilling == Range{} || (!is_atom && !IsSum(n->a))) continue;
      possible = Intersect(range, fulfilling).lo <= Intersect(range, fulfilling).hi;
      if (!possible) break;
      Narrow(n->a, fulfilling);
      narrowed.push_back(n->a);
    }
  }
  Stmt result = possible ? Simplify(s) : Stmt();
  for (const Expr& atom : narrowed) Unbind(atom);
  return result;
}

}  // namespace kiln::loop
