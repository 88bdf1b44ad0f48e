// SPDX-License-Identifier: Apache-2.0
// Loops are visited from the outside in. A loop is split at thresholds of the guards in its body if
// that decides guards for a share of the work that is worth the copies; each copy is simplified
// with the narrower range and visited in turn.
//
// A serial or vectorised loop becomes several loops; but where the pieces beside the largest one
// are little work, it stays one loop whose body is `if (in the largest piece) copy without guards
// else copy with guards`: one copy instead of two. A parallel loop always stays one loop, with the
// pieces as branches within: a launch for each piece would cost more than a test for each
// iteration. An unrolled loop is not split: its copies know their value of the variable.
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
      return MakeIf(n->condition, Visit(n->then_body, share), Visit(n->else_body, share));
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
    Var var;  // empty for the piece of a loop that stays whole
    Stmt body;
  };

  Stmt VisitFor(const For& loop, const Stmt& whole, double share) {
    simplifier_.BindLoop(loop);
    const Range values = simplifier_.RangeOf(loop.var);
    std::vector<Range> split;
    int64_t begin, extent;
    if (loop.kind != ForKind::kUnrolled && AsInt(loop.begin, &begin) &&
        AsInt(loop.extent, &extent)) {
      split = Split(FindThresholds(loop.body, loop.var, simplifier_), values, share);
    }
    if (split.size() > 1) {
      const bool one_loop = split.size() > 2 && loop.kind != ForKind::kVectorized;
      if (one_loop && BesideLargest(split) * share < kSmallShare) {
        Stmt result = LargestOrRest(loop, split, share);
        if (result) {
          simplifier_.Unbind(loop.var);
          return result;
        }
      } else {
        simplifier_.Unbind(loop.var);
        if (Stmt result = EachPiece(loop, whole, split, share)) return result;
        simplifier_.BindLoop(loop);
      }
    }
    Stmt body = Visit(loop.body, share);
    simplifier_.Unbind(loop.var);
    return MakeFor(loop.var, loop.begin, loop.extent, loop.kind, std::move(body));
  }

  static int64_t Size(Range values) { return values.hi - values.lo + 1; }

  static Range Largest(const std::vector<Range>& split) {
    return *std::max_element(split.begin(), split.end(),
                             [](Range a, Range b) { return Size(a) < Size(b); });
  }

  // The part of the iterations that is not in the largest piece.
  static double BesideLargest(const std::vector<Range>& split) {
    int64_t total = 0;
    for (const Range& piece : split) total += Size(piece);
    return 1 - static_cast<double>(Size(Largest(split))) / static_cast<double>(total);
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

  // for v { if (v in the largest piece) … else … }, or nothing if that is too much code. The
  // variable is bound.
  Stmt LargestOrRest(const For& loop, const std::vector<Range>& split, double share) {
    const Range values = simplifier_.RangeOf(loop.var);
    const Range largest = Largest(split);
    simplifier_.Unbind(loop.var);
    simplifier_.Bind(loop.var, largest);
    Stmt inside = simplifier_.Simplify(loop.body);
    const bool taken = Take(CodeSize(inside));
    if (taken) inside = Visit(inside, share);
    simplifier_.Unbind(loop.var);
    simplifier_.Bind(loop.var, values);
    if (!taken) return {};
    Stmt outside = Visit(loop.body, BesideLargest(split) * share);
    const Expr condition =
        simplifier_.Simplify(loop.var >= Expr(largest.lo) && loop.var < Expr(largest.hi + 1));
    return MakeFor(loop.var, loop.begin, loop.extent, loop.kind,
                   MakeIf(condition, std::move(inside), std::move(outside)));
  }

  // A loop, or a branch of a parallel loop, for each piece; nothing if that is too much code. The
  // variable is not bound.
  Stmt EachPiece(const For& loop, const Stmt& whole, const std::vector<Range>& split,
                 double share) {
    const bool branches = loop.kind == ForKind::kParallel;
    std::vector<Piece> pieces;
    int64_t size = 0;
    int64_t total = 0;
    for (const Range& values : split) {
      Piece piece{values, branches ? loop.var : MakeVar(loop.var.As<VarNode>()->name), {}};
      BindPiece(loop, piece);
      piece.body = simplifier_.Simplify(loop.body);
      UnbindPiece(loop, piece);
      size += CodeSize(piece.body) + 2;
      total += Size(values);
      pieces.push_back(std::move(piece));
    }
    if (!Take(size - CodeSize(whole))) return {};
    for (Piece& piece : pieces) {
      BindPiece(loop, piece);
      piece.body = Visit(
          piece.body, share * static_cast<double>(Size(piece.values)) / static_cast<double>(total));
      UnbindPiece(loop, piece);
    }
    return branches ? Branches(loop, pieces) : Loops(loop, pieces);
  }

  void BindPiece(const For& loop, const Piece& piece) {
    simplifier_.Bind(piece.var, piece.values);
    if (piece.var.get() != loop.var.get()) {
      simplifier_.BindValue(loop.var, simplifier_.Simplify(piece.var));
    }
  }

  void UnbindPiece(const For& loop, const Piece& piece) {
    if (piece.var.get() != loop.var.get()) simplifier_.Unbind(loop.var);
    simplifier_.Unbind(piece.var);
  }

  static Stmt Loops(const For& loop, std::vector<Piece>& pieces) {
    std::vector<Stmt> loops;
    for (Piece& piece : pieces) {
      // A loop of one iteration has no variable left in its body.
      const bool once = Size(piece.values) == 1;
      loops.push_back(once ? piece.body
                           : MakeFor(piece.var, Expr(piece.values.lo), Expr(Size(piece.values)),
                                     loop.kind, piece.body));
    }
    return MakeBlock(std::move(loops));
  }

  static Stmt Branches(const For& loop, std::vector<Piece>& pieces) {
    Stmt chain = pieces.back().body;
    for (size_t i = pieces.size() - 1; i-- > 0;) {
      chain = MakeIf(loop.var < Expr(pieces[i].values.hi + 1), pieces[i].body, std::move(chain));
    }
    return MakeFor(loop.var, loop.begin, loop.extent, loop.kind, std::move(chain));
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
