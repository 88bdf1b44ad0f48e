// SPDX-License-Identifier: Apache-2.0
// Loops are visited from the outside in. A loop is split at thresholds of the guards in its body if
// that decides guards for a share of the work that is worth the copies; each copy is simplified
// with the narrower range and visited in turn.
//
// A serial or vectorised loop becomes several loops; but where the pieces beside the largest one
// are little work, it stays one loop whose body is `if (in the largest piece) copy without guards
// else copy with guards`: one copy instead of two. A parallel loop always stays one loop, with the
// pieces as branches within: a launch for each piece would cost more than a test for each
// iteration. Guards of a quotient or remainder of a loop's variable (rows and columns of fused
// loops) make branches too. An unrolled loop is not split: its copies know their value of the
// variable.
#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "compiler/loop/guards.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/simplifier.h"

namespace kiln::loop {
namespace {

constexpr size_t kMaxPieces = 16;
// A split must decide guards in at least this share of a function's work.
constexpr double kMinGain = 1.0 / 32;
// Pieces of less work than this do not get copies of their own.
constexpr double kSmallShare = 1.0 / 16;
// The code may grow to this many expression nodes at least, whatever its size.
constexpr int64_t kSmallCode = 1024;

// Distinct expression nodes, those in unrolled loops counted once for each copy.
int64_t CodeSize(const Stmt& s) {
  if (!s) return 0;
  if (const auto* n = s.As<For>()) {
    int64_t copies = 1;
    if (n->kind == ForKind::kUnrolled) AsInt(n->extent, &copies);
    return 2 + copies * CodeSize(n->body);
  }
  if (const auto* n = s.As<Block>()) {
    int64_t size = 0;
    for (const Stmt& stmt : n->stmts) size += CodeSize(stmt);
    return size;
  }
  if (const auto* n = s.As<If>()) return 2 + CodeSize(n->then_body) + CodeSize(n->else_body);
  if (const auto* n = s.As<Allocate>()) return CodeSize(n->body);
  int64_t size = 1;
  VisitStmt(s, [&](const Expr&) { ++size; });
  return size;
}

class Partitioner {
 public:
  explicit Partitioner(int64_t budget) : budget_(budget) {}

  // `share`: the part of the function's work that `s` does.
  Stmt Visit(const Stmt& s, double share) {
    if (const auto* n = s.As<For>()) return VisitFor(*n, s, share);
    if (const auto* n = s.As<Block>()) {
      std::vector<Stmt> stmts;
      for (const Stmt& stmt : n->stmts) stmts.push_back(Visit(stmt, share));
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

  // The loop's variable is bound.
  Stmt VisitBound(const For& loop, const Stmt& whole, double share) {
    int64_t begin, extent;
    if ((loop.kind == ForKind::kSerial || loop.kind == ForKind::kVectorized) &&
        AsInt(loop.begin, &begin) && AsInt(loop.extent, &extent)) {
      for (const Subject& subject : FindSubjects(loop.body, loop.var, simplifier_)) {
        if (subject.atom.get() != loop.var.get()) continue;
        const auto split = Split(subject.thresholds, simplifier_.RangeOf(loop.var), share);
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

  // `body`, the body of a loop over `var`, in branches by the subjects that are worth it.
  Stmt Branches(const Var& var, const Stmt& body, double share) {
    for (const Subject& subject : FindSubjects(body, var, simplifier_)) {
      const auto split = Split(subject.thresholds, simplifier_.RangeOf(subject.atom), share);
      if (split.size() == 1) continue;
      Stmt result = HasNarrowBorders(split, share)
                        ? LargestOrRest(var, subject.atom, body, split, share)
                        : EachBranch(var, subject.atom, body, split, share);
      if (result) return result;
    }
    return Visit(body, share);
  }

  static bool HasNarrowBorders(const std::vector<Range>& split, double share) {
    return split.size() > 2 && BesideLargest(split) * share < kSmallShare;
  }

  static int64_t Size(Range values) { return values.hi - values.lo + 1; }

  static Range Largest(const std::vector<Range>& split) {
    return *std::max_element(split.begin(), split.end(),
                             [](Range a, Range b) { return Size(a) < Size(b); });
  }

  // The part of all values that is in one piece.
  static double Part(const std::vector<Range>& split, Range piece) {
    return static_cast<double>(Size(piece)) /
           static_cast<double>(split.back().hi - split.front().lo + 1);
  }

  static double BesideLargest(const std::vector<Range>& split) {
    return 1 - Part(split, Largest(split));
  }

  // The values within the range, not its first one, at which a piece may begin.
  static std::set<int64_t> SplitPoints(const std::vector<Threshold>& thresholds, Range values) {
    std::set<int64_t> points;
    auto insert = [&](int64_t point) {
      if (point > values.lo && point <= values.hi) points.insert(point);
    };
    for (const Threshold& threshold : thresholds) {
      const auto [undecided_from, decided_from] = threshold.FindPoints();
      if (threshold.Undecided(values) == 0 || undecided_from > decided_from) continue;
      insert(undecided_from);
      insert(decided_from);
    }
    // Those with a choice take a point that is there already, if they can.
    for (const Threshold& threshold : thresholds) {
      const auto [undecided_from, decided_from] = threshold.FindPoints();
      if (threshold.Undecided(values) == 0 || undecided_from <= decided_from) continue;
      auto it = points.lower_bound(decided_from);
      if (it == points.end() || *it > undecided_from) insert(decided_from);
    }
    return points;
  }

  // The pieces to split a range into; one, if no split is worth while.
  std::vector<Range> Split(const std::vector<Threshold>& thresholds, Range values, double share) {
    const std::set<int64_t> points = SplitPoints(thresholds, values);
    std::vector<Range> pieces;
    int64_t from = values.lo;
    for (int64_t point : points) {
      pieces.push_back({from, point - 1});
      from = point;
    }
    pieces.push_back({from, values.hi});
    if (pieces.size() > kMaxPieces) {
      const Range largest = Largest(pieces);
      pieces = {{values.lo, largest.lo - 1}, largest, {largest.hi + 1, values.hi}};
      std::erase_if(pieces, [](Range piece) { return piece.lo > piece.hi; });
    }
    double gain = 0;
    for (const Threshold& threshold : thresholds) {
      double left = 0;
      for (const Range& piece : pieces) {
        left += threshold.Undecided(piece) * static_cast<double>(Size(piece));
      }
      gain = std::max(gain, threshold.Undecided(values) - left / static_cast<double>(Size(values)));
    }
    if (gain * share < kMinGain) pieces = {values};
    return pieces;
  }

  // if (atom in the largest piece) … else …, or nothing if that is too much code.
  Stmt LargestOrRest(const Var& var, const Expr& atom, const Stmt& body,
                     const std::vector<Range>& split, double share) {
    const Range largest = Largest(split);
    const Expr condition =
        simplifier_.Simplify(atom >= Expr(largest.lo) && atom < Expr(largest.hi + 1));
    simplifier_.Narrow(atom, largest);
    Stmt inside = simplifier_.Simplify(body);
    const bool taken = Take(CodeSize(inside));
    if (taken) inside = Branches(var, inside, share);
    simplifier_.Unbind(atom);
    if (!taken) return {};
    Stmt outside = Visit(body, BesideLargest(split) * share);
    return MakeIf(condition, std::move(inside), std::move(outside));
  }

  // if (atom in the first piece) … else if (in the second) …, or nothing if that is too much code.
  Stmt EachBranch(const Var& var, const Expr& atom, const Stmt& body,
                  const std::vector<Range>& split, double share) {
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
      copies[i] = Branches(var, copies[i], share * Part(split, split[i]));
      simplifier_.Unbind(atom);
    }
    Stmt chain = copies.back();
    for (size_t i = split.size() - 1; i-- > 0;) {
      chain =
          MakeIf(simplifier_.Simplify(atom < Expr(split[i].hi + 1)), copies[i], std::move(chain));
    }
    return chain;
  }

  // A loop for each piece; nothing if that is too much code.
  Stmt EachPiece(const For& loop, const Stmt& whole, const std::vector<Range>& split,
                 double share) {
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
      // A loop of one iteration has no variable left in its body.
      const bool once = Size(piece.values) == 1;
      loops.push_back(once ? body
                           : MakeFor(piece.var, Expr(piece.values.lo), Expr(Size(piece.values)),
                                     loop.kind, std::move(body)));
    }
    return MakeBlock(std::move(loops));
  }

  // Whether so much more code is within the budget; takes it if so.
  bool Take(int64_t growth) {
    if (growth > budget_) return false;
    budget_ -= growth;
    return true;
  }

  Simplifier simplifier_;
  int64_t budget_;
};

}  // namespace

Stmt PartitionLoops(const Stmt& s, int max_growth) {
  const int64_t size = CodeSize(s);
  Partitioner partitioner(std::max(size * (max_growth - 1), kSmallCode - size));
  return partitioner.Visit(partitioner.simplifier().Simplify(s), 1.0);
}

}  // namespace kiln::loop
