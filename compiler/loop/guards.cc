// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/guards.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "compiler/base/align.h"
#include "compiler/loop/mutate.h"

namespace kiln::loop {
namespace {

// Maximum number of combinations of unrolled variables that are told apart.
constexpr size_t kMaxInstances = 64;

class SubjectFinder {
 public:
  SubjectFinder(const Var& var, Simplifier& simplifier, bool in_ranges)
      : var_(var), simplifier_(simplifier), in_ranges_(in_ranges) {}

  void Visit(const Stmt& s) {
    if (const auto* n = s.As<For>()) {
      if (in_ranges_ || n->kind != ForKind::kSerial) {
        VisitExprs(n->begin);
        VisitExprs(n->extent);
      }
      simplifier_.BindLoop(*n);
      inner_.insert(n->var.get());
      if (n->kind == ForKind::kUnrolled) unrolled_.push_back(n->var);
      Visit(n->body);
      if (n->kind == ForKind::kUnrolled) unrolled_.pop_back();
      inner_.erase(n->var.get());
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
    } else if (const auto* n = s.As<Fail>()) {
      VisitExprs(n->number);
    }
  }

  std::vector<Subject>& subjects() { return subjects_; }

 private:
  void VisitExprs(const Expr& root) {
    VisitExpr(root, [this](const Expr& e) {
      if (const auto* n = e.As<Compare>()) {
        if (n->a.type() != Type::Index()) return;
        const bool equality = n->op == CompareOp::kEq || n->op == CompareOp::kNe;
        // a < b and a >= b change where a - b becomes 0. a <= b and a > b change where it becomes
        // 1, and so does a == b at its end.
        const bool at_one = n->op == CompareOp::kLe || n->op == CompareOp::kGt;
        if (!at_one) Add(n->a, n->b, 0, false);
        if (at_one || equality) Add(n->a, n->b, 1, false);
      } else if (const auto* n = e.As<Binary>()) {
        if (n->op != BinaryOp::kMin && n->op != BinaryOp::kMax) return;
        if (n->a.type() == Type::Index()) Add(n->a, n->b, 0, true);
      }
    });
  }

  // Adds the thresholds at which the sign of a - b - shift changes.
  void Add(const Expr& a, const Expr& b, int64_t shift, bool zero_is_both) {
    const LinearSum& left = simplifier_.LinearOf(simplifier_.Simplify(a));
    const LinearSum& right = simplifier_.LinearOf(simplifier_.Simplify(b));
    LinearSum difference;
    if (!AddScaled(left, right, -1, &difference) ||
        __builtin_sub_overflow(difference.constant, shift, &difference.constant)) {
      return;
    }
    for (const LinearSum::Term& term : difference.terms) {
      if (term.coefficient == Range::kNegInf || !IsSubject(term.atom)) continue;
      LinearSum rest = difference;
      std::erase_if(rest.terms, [&](const auto& t) { return t.atom.get() == term.atom.get(); });
      Threshold threshold{term.coefficient, simplifier_.RangeOf(rest), zero_is_both, {}};
      if (!threshold.rest.bounded()) continue;
      threshold.instances = Instances(std::move(rest));
      SubjectOf(term.atom).thresholds.push_back(std::move(threshold));
    }
  }

  bool IsSubject(const Expr& atom) {
    if (atom.As<VarNode>() != nullptr) return atom.get() == var_.get();
    const auto* n = atom.As<Binary>();
    if (n == nullptr || (n->op != BinaryOp::kDiv && n->op != BinaryOp::kMod)) return false;
    bool uses_var = false;
    bool uses_inner = false;
    VisitExpr(atom, [&](const Expr& e) {
      uses_var |= e.get() == var_.get();
      // A loaded value may change within the body.
      uses_inner |= inner_.contains(e.get()) || e.As<Load>() != nullptr;
    });
    return uses_var && !uses_inner;
  }

  Subject& SubjectOf(const Expr& atom) {
    for (Subject& subject : subjects_) {
      if (subject.atom.get() == atom.get()) return subject;
    }
    return subjects_.emplace_back(Subject{atom, {}});
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
  const bool in_ranges_;
  std::vector<Var> unrolled_;
  std::unordered_set<const ExprNode*> inner_;
  std::vector<Subject> subjects_;
};

}  // namespace

Threshold::Points Threshold::FindPoints() const {
  const int64_t greatest = rest.hi - (zero_is_both ? 1 : 0);
  // The coefficient is positive: the sum may be non-negative from the value at which the greatest
  // rest makes it so, and certainly is from the value at which the least rest does.
  if (coefficient > 0) {
    return {DivideUp(-greatest, coefficient), DivideUp(-rest.lo, coefficient)};
  }
  // The coefficient is negative: the sum is certainly non-negative up to one value, and may be so
  // up to a greater one. The points are the values after these two.
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

std::vector<Subject> FindSubjects(const Stmt& body, const Var& var, Simplifier& simplifier,
                                  bool in_ranges) {
  SubjectFinder finder(var, simplifier, in_ranges);
  finder.Visit(body);
  return std::move(finder.subjects());
}

}  // namespace kiln::loop
