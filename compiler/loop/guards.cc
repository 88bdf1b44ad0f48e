// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/guards.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "compiler/loop/mutate.h"

namespace kiln::loop {
namespace {

// More combinations of unrolled variables than this are not told apart.
constexpr size_t kMaxInstances = 64;

class ThresholdFinder {
 public:
  ThresholdFinder(const Var& var, Simplifier& simplifier) : var_(var), simplifier_(simplifier) {}

  void Visit(const Stmt& s) {
    if (const auto* n = s.As<For>()) {
      VisitExprs(n->begin);
      VisitExprs(n->extent);
      simplifier_.BindLoop(*n);
      if (n->kind == ForKind::kUnrolled) unrolled_.push_back(n->var);
      Visit(n->body);
      if (n->kind == ForKind::kUnrolled) unrolled_.pop_back();
      simplifier_.Unbind(n->var);
    } else if (const auto* n = s.As<Store>()) {
      for (const Expr& index : n->index) VisitExprs(index);
      VisitExprs(n->value);
    } else if (const auto* n = s.As<Block>()) {
      for (const Stmt& stmt : n->stmts) Visit(stmt);
    } else if (const auto* n = s.As<If>()) {
      VisitExprs(n->condition);
      Visit(n->then_body);
      Visit(n->else_body);
    } else if (const auto* n = s.As<Allocate>()) {
      Visit(n->body);
    } else if (const auto* n = s.As<Call>()) {
      for (const Argument& arg : n->args) VisitExprs(arg.offset);
    }
  }

  std::vector<Threshold>& thresholds() { return thresholds_; }

 private:
  void VisitExprs(const Expr& root) {
    VisitExpr(root, [this](const Expr& e) {
      if (const auto* n = e.As<Compare>()) {
        if (n->a.type() != Type::Index()) return;
        const bool equality = n->op == CompareOp::kEq || n->op == CompareOp::kNe;
        // a < b and a >= b turn where a - b becomes 0; a <= b and a > b, and the end of a == b,
        // where it becomes 1.
        const bool at_one = n->op == CompareOp::kLe || n->op == CompareOp::kGt;
        if (!at_one) Add(n->a, n->b, 0, false);
        if (at_one || equality) Add(n->a, n->b, 1, false);
      } else if (const auto* n = e.As<Binary>()) {
        if (n->op != BinaryOp::kMin && n->op != BinaryOp::kMax) return;
        if (n->a.type() == Type::Index()) Add(n->a, n->b, 0, true);
      }
    });
  }

  // The sign of a - b - shift.
  void Add(const Expr& a, const Expr& b, int64_t shift, bool zero_is_both) {
    LinearSum rest;
    if (!AddScaled(simplifier_.LinearOf(simplifier_.Simplify(a)),
                   simplifier_.LinearOf(simplifier_.Simplify(b)), -1, &rest)) {
      return;
    }
    const int64_t coefficient = rest.CoefficientOf(var_.get());
    if (coefficient == 0 || coefficient == Range::kNegInf) return;
    std::erase_if(rest.terms, [&](const auto& term) { return term.atom.get() == var_.get(); });
    rest.constant -= shift;
    for (const LinearSum::Term& term : rest.terms) {
      if (Uses(term.atom, var_)) return;
    }
    Threshold threshold{coefficient, simplifier_.RangeOf(rest), zero_is_both, {}};
    if (!threshold.rest.bounded()) return;
    threshold.instances = Instances(rest);
    thresholds_.push_back(std::move(threshold));
  }

  std::vector<Range> Instances(LinearSum rest) {
    std::vector<Range> values = {Range::Point(0)};
    for (const Var& var : unrolled_) {
      const int64_t coefficient = rest.CoefficientOf(var.get());
      const Range range = simplifier_.RangeOf(var);
      if (coefficient == 0 || !range.bounded()) continue;
      const int64_t count = range.hi - range.lo + 1;
      if (count > static_cast<int64_t>(kMaxInstances / values.size())) continue;
      std::vector<Range> next;
      for (const Range& value : values) {
        for (int64_t i = range.lo; i <= range.hi; ++i) {
          next.push_back(
              kiln::loop::Add(value, Multiply(Range::Point(i), Range::Point(coefficient))));
        }
      }
      values = std::move(next);
      std::erase_if(rest.terms, [&](const auto& term) { return term.atom.get() == var.get(); });
    }
    const Range common = simplifier_.RangeOf(rest);
    for (Range& value : values) value = kiln::loop::Add(value, common);
    return values;
  }

  const Var var_;
  Simplifier& simplifier_;
  std::vector<Var> unrolled_;
  std::vector<Threshold> thresholds_;
};

}  // namespace

Threshold::Points Threshold::FindPoints() const {
  const int64_t greatest = rest.hi - (zero_is_both ? 1 : 0);
  // Going up with a positive coefficient: possibly not negative from where the greatest rest makes
  // it so, certainly from where the least does.
  if (coefficient > 0) {
    return {CeilDivide(-greatest, coefficient), CeilDivide(-rest.lo, coefficient)};
  }
  // With a negative one: certainly not negative up to such a value, possibly up to a greater one;
  // the points are the values after.
  return {FloorDivide(rest.lo, -coefficient) + 1, FloorDivide(greatest, -coefficient) + 1};
}

double Threshold::Undecided(Range values) const {
  const Range scaled = Multiply(values, Range::Point(coefficient));
  const auto undecided =
      std::count_if(instances.begin(), instances.end(), [&](const Range& instance) {
        const Range all = Add(scaled, instance);
        return all.lo < 0 && all.hi >= (zero_is_both ? 1 : 0);
      });
  return static_cast<double>(undecided) / static_cast<double>(instances.size());
}

std::vector<Threshold> FindThresholds(const Stmt& body, const Var& var, Simplifier& simplifier) {
  ThresholdFinder finder(var, simplifier);
  finder.Visit(body);
  return std::move(finder.thresholds());
}

}  // namespace kiln::loop
