// SPDX-License-Identifier: Apache-2.0
// Loops are visited from the outside in. A loop is split at thresholds of the guards in its body if
// the split decides guards for a share of the work that is worth the copies. Each copy is
// simplified with the narrower range and visited in turn.
//
// A serial or vectorized loop becomes several loops. If the pieces apart from the largest one are
// little work, a serial loop stays one loop whose body is `if (in the largest piece) copy without
// guards else copy with guards`: one copy instead of two. A parallel loop always stays one loop,
// with the pieces as branches within it, because a launch for each piece would cost more than a
// test in each iteration. Guards of a quotient or remainder of a loop's variable (rows and columns
// of fused loops) become branches too. An unrolled loop is not split, because its copies know their
// value of the variable.
//
// PartitionLimits::narrow_below excludes some serial loops from this: loops whose guards are all in
// one nest that is next to other nests. The nest becomes `if (in the largest piece) copy without
// guards else the nest`, inside of all these loops.
#include "compiler/loop/partition.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "compiler/loop/guards.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/pieces.h"
#include "compiler/loop/simplifier.h"
#include "compiler/loop/work.h"

namespace kiln::loop {
namespace {

// Pieces with a smaller share of the work do not get copies of their own.
constexpr double kSmallShare = 1.0 / 16;
// The same limit for nests that are copied on their own.
constexpr double kSmallShareOfNest = 1.0 / 4;

bool HasLoad(const Expr& value) {
  bool loads = false;
  VisitExpr(value, [&](const Expr& e) { loads |= e.As<Load>() != nullptr; });
  return loads;
}

// Moves a test that is the same for all iterations out of a loop, and makes a loop for either case.
// The test is the condition of a select in the loop's only store, or of an If in an unrolled loop.
Stmt TestOnce(const Stmt& s) {
  const auto* loop = s.As<For>();
  if (const auto* test = loop->body.As<If>();
      test != nullptr && loop->kind == ForKind::kUnrolled && test->else_body &&
      !Uses(test->condition, loop->var) && !HasLoad(test->condition)) {
    const auto over = [&](const Stmt& body) {
      return MakeFor(loop->var, loop->begin, loop->extent, loop->kind, body);
    };
    return MakeIf(test->condition, over(test->then_body), over(test->else_body));
  }
  const auto* store = loop->body.As<Store>();
  if (store == nullptr) return s;
  Expr found;
  VisitExpr(store->value, [&](const Expr& e) {
    const auto* select = e.As<Select>();
    if (select != nullptr && !Uses(select->condition, loop->var) && !HasLoad(select->condition)) {
      found = e;
    }
  });
  if (found.get() == nullptr) return s;
  const auto* select = found.As<Select>();
  const auto with = [&](const Expr& value) {
    return Simplify(Substitute(s, {{found.get(), value}}));
  };
  return MakeIf(select->condition, with(select->if_true), with(select->if_false));
}

class Partitioner {
 public:
  Partitioner(int64_t budget, const PartitionLimits& limits) : budget_(budget), limits_(limits) {}

  // `share` is the part of the function's work that `s` does.
  Stmt Visit(const Stmt& s, double share) {
    if (const auto* n = s.As<For>()) return VisitFor(*n, s, share);
    if (const auto* n = s.As<Block>()) {
      std::vector<Stmt> stmts;
      for (const Stmt& stmt : n->stmts) stmts.push_back(VisitNest(stmt, share));
      return MakeBlock(std::move(stmts));
    }
    if (const auto* n = s.As<If>()) {
      Stmt then_body = Visit(n->then_body, share);
      Stmt else_body = Visit(n->else_body, share);
      return MakeIf(n->condition, std::move(then_body), std::move(else_body));
    }
    if (const auto* n = s.As<Allocate>()) {
      return MakeAllocate(n->buffer, Visit(n->body, share), n->workspace_offset);
    }
    return s;
  }

  Simplifier& simplifier() { return simplifier_; }

 private:
  struct Piece {
    Range values;
    Var var;
    Stmt body;
  };

  Stmt VisitFor(const For& loop, const Stmt& whole, double share) {
    simplifier_.BindLoop(loop);
    Stmt result = VisitBound(loop, whole, share);
    simplifier_.Unbind(loop.var);
    return result;
  }

  std::vector<Subject> Subjects(const Stmt& body, const Var& var) {
    return FindSubjects(body, var, simplifier_, limits_.splits_ranges);
  }

  // True if the statement may be copied as a nest of its own: a serial loop, or, with
  // rolls_borders, an unrolled one, which is then unrolled in the interior only.
  bool IsNest(const Stmt& s) const {
    const auto* loop = s.As<For>();
    return loop != nullptr && (loop->kind == ForKind::kSerial ||
                               (limits_.rolls_borders && loop->kind == ForKind::kUnrolled));
  }

  // True if the guards that depend on `var` are in nests next to loops without such guards.
  bool StandBesideOthers(const Stmt& s, const Var& var) {
    if (const auto* n = s.As<Allocate>()) return StandBesideOthers(n->body, var);
    if (const auto* n = s.As<For>()) {
      if (n->kind != ForKind::kSerial) return false;
      simplifier_.BindLoop(*n);
      const bool result = StandBesideOthers(n->body, var);
      simplifier_.Unbind(n->var);
      return result;
    }
    const auto* block = s.As<Block>();
    if (block == nullptr) return false;
    bool guarded = false, others = false;
    for (const Stmt& stmt : block->stmts) {
      const bool has_guards = !Subjects(stmt, var).empty();
      const bool is_nest =
          IsNest(stmt) || (limits_.rolls_borders && stmt.As<Allocate>() != nullptr);
      if (has_guards && !is_nest) return false;
      guarded |= has_guards;
      others |= stmt.As<For>() != nullptr && !has_guards;
    }
    return guarded && others;
  }

  // True if the loop stays one loop for borders and interior, and a nest in it gets two copies.
  bool IsNarrow(const For& loop, double share) {
    if (limits_.narrow_below <= 0 || loop.kind != ForKind::kSerial ||
        !StandBesideOthers(loop.body, loop.var)) {
      return false;
    }
    double borders = 0;
    for (const Subject& subject : Subjects(loop.body, loop.var)) {
      const Pieces pieces = SplitAt(subject.thresholds, simplifier_.RangeOf(subject.atom), share);
      borders = std::max(borders, BesideLargest(pieces));
    }
    const Work work = WorkOf(loop.body);
    return borders * work.guards < limits_.narrow_below * work.all;
  }

  // Visits a statement of a block. It becomes branches by the variables of the loops around it that
  // were not split.
  Stmt VisitNest(const Stmt& s, double share) {
    if (around_.empty() || !IsNest(s)) return Visit(s, share);
    std::vector<Var> around;
    around.swap(around_);
    Stmt result = BranchesOf(around, s, share);
    around_.swap(around);
    return result;
  }

  // Makes branches by the first of `vars`, and within them by the others. If borders are little
  // work, the branch for all but the largest piece keeps its guards. With rolls_borders, the loops
  // in it that guards depend on are rolled. `at_border`: `s` is such a branch for an earlier
  // variable.
  Stmt BranchesOf(absl::Span<const Var> vars, const Stmt& s, double share, bool at_border = false) {
    if (vars.empty()) return at_border ? Border(s) : Visit(s, share);
    const auto others = [&](const Stmt& stmt, double part) {
      return BranchesOf(vars.subspan(1), stmt, part, at_border);
    };
    for (const Subject& subject : Subjects(s, vars[0])) {
      const Pieces split = SplitAt(subject.thresholds, simplifier_.RangeOf(subject.atom), share);
      if (split.size() == 1) continue;
      const bool is_small = split.size() > 2 && BesideLargest(split) < kSmallShareOfNest;
      Stmt result = is_small || limits_.rolls_borders
                        ? LargestOrRest(
                              subject.atom, s, split,
                              [&](const Stmt& inside) { return others(inside, share); },
                              [&](const Stmt& rest) {
                                return limits_.rolls_borders
                                           ? BranchesOf(vars.subspan(1), rest, share, true)
                                           : Border(rest);
                              })
                        : EachBranch(subject.atom, s, split, share, others);
      return result ? result : Border(s);
    }
    return others(s, share);
  }

  // True if guards depend on the variable of the loop, or the loop contains a rolled loop.
  bool IsGuarded(const For& loop) {
    bool rolled = false;
    VisitStmt(loop.body, nullptr, [&](const Stmt& s) {
      const auto* inner = s.As<For>();
      rolled |= inner != nullptr && inner->kind == ForKind::kSerial;
    });
    return rolled || !Subjects(loop.body, loop.var).empty();
  }

  // Returns a nest with its guards as small code.
  Stmt Border(const Stmt& s) {
    return MutateStmt(s, [&](const Stmt& stmt) {
      const auto* loop = stmt.As<For>();
      if (loop == nullptr) return stmt;
      const bool rolls =
          limits_.rolls_borders && loop->kind == ForKind::kUnrolled && IsGuarded(*loop);
      return TestOnce(
          rolls ? MakeFor(loop->var, loop->begin, loop->extent, ForKind::kSerial, loop->body)
                : stmt);
    });
  }

  // The loop's variable is bound when this is called.
  Stmt VisitBound(const For& loop, const Stmt& whole, double share) {
    if (IsNarrow(loop, share)) {
      around_.push_back(loop.var);
      Stmt body = Visit(loop.body, share);
      around_.pop_back();
      return MakeFor(loop.var, loop.begin, loop.extent, loop.kind, std::move(body));
    }
    int64_t begin, extent;
    if ((loop.kind == ForKind::kSerial || loop.kind == ForKind::kVectorized) &&
        AsInt(loop.begin, &begin) && AsInt(loop.extent, &extent)) {
      for (const Subject& subject : Subjects(loop.body, loop.var)) {
        if (subject.atom.get() != loop.var.get()) continue;
        const auto split = SplitAt(subject.thresholds, simplifier_.RangeOf(loop.var), share);
        const bool branches = loop.kind == ForKind::kSerial && HasNarrowBorders(split, share);
        if (split.size() == 1 || branches) continue;
        if (Stmt result = EachPiece(loop, whole, split, share)) return result;
      }
    }
    // A branch by a variable that is a lane would differ by lane.
    const bool may_branch = loop.kind == ForKind::kSerial || loop.kind == ForKind::kParallel;
    Stmt body = may_branch ? Branches(loop.var, loop.body, share) : Visit(loop.body, share);
    return MakeFor(loop.var, loop.begin, loop.extent, loop.kind, std::move(body));
  }

  // Returns the body of a loop over `var` in branches by the subjects for which they are
  // worthwhile.
  Stmt Branches(const Var& var, const Stmt& body, double share) {
    for (const Subject& subject : Subjects(body, var)) {
      const auto split = SplitAt(subject.thresholds, simplifier_.RangeOf(subject.atom), share);
      if (split.size() == 1) continue;
      Stmt result =
          HasNarrowBorders(split, share)
              ? MostOrRest(var, subject.atom, body, split, share)
              : EachBranch(subject.atom, body, split, share, [&](const Stmt& copy, double part) {
                  return Branches(var, copy, part);
                });
      if (result) return result;
    }
    return Visit(body, share);
  }

  static bool HasNarrowBorders(const Pieces& split, double share) {
    return split.size() > 2 && BesideLargest(split) * share < kSmallShare;
  }

  // Returns `if (atom in the largest piece) … else …`, or nothing if that is too much code. Visits
  // both copies.
  template <typename Inside, typename Outside>
  Stmt LargestOrRest(const Expr& atom, const Stmt& body, const Pieces& split,
                     const Inside& visit_inside, const Outside& visit_outside) {
    const Range largest = Largest(split);
    const Expr condition =
        simplifier_.Simplify(atom >= Expr(largest.lo) && atom < Expr(largest.hi + 1));
    simplifier_.Narrow(atom, largest);
    Stmt inside = simplifier_.Simplify(body);
    const bool taken = Take(CodeSize(inside));
    if (taken) inside = visit_inside(inside);
    simplifier_.Unbind(atom);
    if (!taken) return {};
    return MakeIf(condition, std::move(inside), visit_outside(body));
  }

  Stmt MostOrRest(const Var& var, const Expr& atom, const Stmt& body, const Pieces& split,
                  double share) {
    return LargestOrRest(
        atom, body, split, [&](const Stmt& inside) { return Branches(var, inside, share); },
        [&](const Stmt& rest) { return Visit(rest, BesideLargest(split) * share); });
  }

  // Returns `if (atom in the first piece) … else if (in the second) …`, or nothing if that is too
  // much code.
  template <typename Visitor>
  Stmt EachBranch(const Expr& atom, const Stmt& body, const Pieces& split, double share,
                  const Visitor& visit) {
    std::vector<Stmt> copies;
    int64_t size = 0;
    for (const Range& values : split) {
      simplifier_.Narrow(atom, values);
      copies.push_back(simplifier_.Simplify(body));
      simplifier_.Unbind(atom);
      size += CodeSize(copies.back()) + 2;
    }
    if (!Take(size - CodeSize(body))) return {};
    for (size_t i = 0; i < split.size(); ++i) {
      simplifier_.Narrow(atom, split[i]);
      copies[i] = visit(copies[i], share * Part(split, split[i]));
      simplifier_.Unbind(atom);
    }
    Stmt chain = copies.back();
    for (size_t i = split.size() - 1; i-- > 0;) {
      chain =
          MakeIf(simplifier_.Simplify(atom < Expr(split[i].hi + 1)), copies[i], std::move(chain));
    }
    return chain;
  }

  // Returns one loop for each piece, or nothing if that is too much code.
  Stmt EachPiece(const For& loop, const Stmt& whole, const Pieces& split, double share) {
    std::vector<Piece> pieces;
    int64_t size = 0;
    for (const Range& values : split) {
      Piece piece{values, MakeVar(loop.var.As<VarNode>()->name), {}};
      simplifier_.Bind(piece.var, values);
      simplifier_.BindValue(loop.var, simplifier_.Simplify(piece.var));
      piece.body = simplifier_.Simplify(loop.body);
      simplifier_.Unbind(loop.var);
      simplifier_.Unbind(piece.var);
      size += CodeSize(piece.body) + 2;
      pieces.push_back(std::move(piece));
    }
    if (!Take(size - CodeSize(whole))) return {};
    std::vector<Stmt> loops;
    for (Piece& piece : pieces) {
      const double part = share * Part(split, piece.values);
      simplifier_.Bind(piece.var, piece.values);
      Stmt body = loop.kind == ForKind::kSerial ? Branches(piece.var, piece.body, part)
                                                : Visit(piece.body, part);
      simplifier_.Unbind(piece.var);
      // The body of a loop with one iteration does not use the variable any more.
      const bool once = piece.values.lo == piece.values.hi;
      loops.push_back(once ? body
                           : MakeFor(piece.var, Expr(piece.values.lo),
                                     Expr(piece.values.hi - piece.values.lo + 1), loop.kind,
                                     std::move(body)));
    }
    return MakeBlock(std::move(loops));
  }

  // Takes `growth` from the budget and returns true, or returns false if it exceeds the budget.
  bool Take(int64_t growth) {
    if (growth > budget_) return false;
    budget_ -= growth;
    return true;
  }

  Simplifier simplifier_;
  int64_t budget_;
  const PartitionLimits limits_;
  std::vector<Var> around_;  // variables of loops that are not split, around the visited statement
};

}  // namespace

Stmt PartitionLoops(const Stmt& s, const PartitionLimits& limits) {
  const int64_t size = CodeSize(s);
  const int64_t budget = std::max(size * (limits.max_growth - 1), limits.small_code - size);
  Partitioner partitioner(budget, limits);
  return partitioner.Visit(partitioner.simplifier().Simplify(s), 1.0);
}

}  // namespace kiln::loop
