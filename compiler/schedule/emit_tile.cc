// SPDX-License-Identifier: Apache-2.0
// The code of one register tile.
#include <algorithm>
#include <functional>

#include "compiler/base/align.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/schedule/register_tile.h"
#include "compiler/schedule/tile_prefetch.h"

namespace kiln::schedule {
namespace {

// Returns `step` inside of loops over the reduction. Each iteration has several steps, so that few
// instructions are spent on the loops.
Stmt Reduction(const TiledContraction& t, const TilePlace& place, const Stmt& step,
               int64_t accumulators) {
  std::vector<Axis> outer = t.c.reduce;
  Stmt body = step;
  if (t.plan.parts > 1) {
    const Var var = outer.front().var;
    outer.front() = {loop::MakeVar(var.As<loop::VarNode>()->name),
                     outer.front().extent / t.plan.parts};
    body = loop::Substitute(step, {{var.get(), BeginOfPart(t, place) + outer.front().var}});
  }
  int64_t steps = 1;
  const int64_t extent = outer.back().extent;
  for (int64_t s = 2; s <= std::min(t.plan.max_unrolled / accumulators, t.machine->tiles.max_steps);
       ++s) {
    if (extent % s == 0) steps = s;
  }
  if (steps > 1) {
    const Var var = outer.back().var, within = loop::MakeVar("step");
    outer.back() = {loop::MakeVar(var.As<loop::VarNode>()->name), extent / steps};
    body = Nest({{within, steps}}, ForKind::kUnrolled,
                loop::Substitute(body, {{var.get(), outer.back().var * Expr(steps) + within}}));
  }
  Expr iteration = 0;
  for (const Axis& axis : outer) iteration = iteration * Expr(axis.extent) + axis.var;
  const int64_t iterations = TotalExtent(outer);
  // Prefetches stand before all loads of an iteration: a compiler does not move loads across them.
  return Nest(outer, ForKind::kSerial,
              loop::MakeBlock({PrefetchNextColumns(t, place, iteration, iterations),
                               PrefetchNextRows(t, place, iteration, iterations), body}));
}

bool ReadsBuffer(const Expr& e, const Buffer& buffer) {
  bool reads = false;
  loop::VisitExpr(e, [&](const Expr& at) {
    const auto* load = at.As<loop::Load>();
    reads |= load != nullptr && load->buffer == buffer;
  });
  return reads;
}

// Returns the loads of the epilogues that differ by row and whose addresses are known when a tile
// begins. Loads of the sums are excluded, and so are loads that use the sums as an index.
std::vector<const loop::Load*> EpilogueLoads(const TiledContraction& t) {
  std::vector<const loop::Load*> loads;
  if (!t.plan.epilogue_ahead || t.c.rows.empty()) return loads;
  for (const Epilogue& epilogue : t.epilogues) {
    loop::VisitExpr(epilogue.value, [&](const Expr& e) {
      const auto* load = e.As<loop::Load>();
      if (load == nullptr || ReadsBuffer(e, t.sums)) return;
      const bool differs =
          std::any_of(load->index.begin(), load->index.end(),
                      [&](const Expr& index) { return loop::Uses(index, t.c.rows.back().var); });
      if (differs) loads.push_back(load);
    });
  }
  return loads;
}

// Returns the address that `groups`, a load of a step, reads in the first step.
loop::Argument FirstGroup(const TiledContraction& t, const Expr& groups) {
  loop::Substitution first_step;
  for (const Axis& axis : t.c.reduce) first_step[axis.var.get()] = 0;
  const loop::Load& load = *FactorLoad(groups);
  return {load.buffer, loop::Substitute(FirstElement(load), first_step)};
}

// Emits all steps of a tile's reduction as one loop in assembly. `x` and `y` are the loads of the
// first groups of rows and columns.
Stmt LoopInAssembly(const TiledContraction& t, const Buffer& sums, const Expr& x, const Expr& y) {
  loop::DotKind kind = t.dot->kind();
  kind.steps = static_cast<int>(t.dot->steps);
  kind.run = t.dot->loop->run;
  return loop::MakeDotTile(kind, t.dot->loop->rows, t.dot->loop->columns, {sums, 0},
                           FirstGroup(t, x), FirstGroup(t, y));
}

// Emits the same in registers that hold matrices, for all steps or for those of one part.
Stmt ProductsOfMatrices(const TiledContraction& t, const TilePlace& place,
                        const loop::Argument& sums, const Expr& x, const Expr& y) {
  const int64_t rows = place.matrix_rows(), columns = t.plan.tile.columns();
  const Axis step = {loop::MakeVar("step"), t.dot->steps / t.plan.parts};
  const Expr step_of_all = BeginOfPart(t, place) + step.var;
  const auto at_step = [&](const Expr& groups, int64_t lines) {
    const loop::Argument first = FirstGroup(t, groups);
    return loop::Argument{first.buffer,
                          first.offset + step_of_all * Expr(t.dot->StepElements(lines))};
  };
  loop::Argument of_rows = at_step(x, rows);
  if (t.dot->stores_matrices()) {
    of_rows.offset = of_rows.offset + place.row * Expr(t.dot->steps * t.dot->StepElements(1));
  }
  const Stmt tile =
      loop::MakeDotTile(t.dot->kind(), static_cast<int>(rows), static_cast<int>(columns), sums,
                        of_rows, at_step(y, columns));
  return Nest({step}, ForKind::kSerial,
              loop::MakeBlock({PrefetchNextColumns(t, place, step.var, step.extent), tile}));
}

// Returns the sum after one step of the reduction.
Expr AddProduct(const TiledContraction& t, const Expr& sum, const Expr& x, const Expr& y) {
  if (t.dot.has_value()) return AddDot(*t.dot, sum, x, y);
  return t.plan.order.fused ? loop::MakeFma(x, y, sum) : sum + x * y;
}

class TileEmitter {
 public:
  TileEmitter(const TiledContraction& t, const TilePlace& place) : t_(t), place_(place) {
    if (!in_place_) {
      acc_ = loop::MakeBuffer("acc", t.init.type().dtype, {rows_ * row_stride_},
                              loop::BufferScope::kLocal, of_matrices_ ? kMatrixRowBytes : 0);
    }
  }

  Stmt Emit() {
    ClearMissingRows();
    if (!in_place_) StartSums();
    if (place_.last_part) PrefetchEpilogues();
    AddProducts();
    if (!place_.last_part) {
      if (!in_place_) StorePartialSums();
      return Allocating();
    }
    if (epilogue_lanes_ != sum_lanes_ || (t_.code.loops_over_sums && !in_memory())) MoveSumsApart();
    for (const Epilogue& epilogue : t_.epilogues) Store(epilogue);
    return Allocating();
  }

 private:
  // A point of the tile: its rows and its column, counted from where the tile begins.
  struct Point {
    Expr outer, row, column;
  };
  using PointStmt = std::function<Stmt(const Point&)>;

  // True if sums are in memory, and not in registers.
  bool in_memory() const { return one_loop_ != nullptr || of_matrices_; }

  // The place of a sum if the sums of a row lie side by side.
  Expr InRow(const Point& p) const {
    return first_sum_ + (p.outer * Expr(place_.rows) + p.row) * Expr(row_stride_) + p.column;
  }

  // The place of an accumulator. A vector of several rows has the lanes of one row after those of
  // the row before.
  Expr SumAt(const Point& p) const {
    if (vector_rows_ == 1) return InRow(p);
    const Expr lanes = sum_lanes_, rows_of_vector = vector_rows_;
    const Expr vector = p.row / rows_of_vector * Expr(vectors_) + p.column / lanes;
    return (vector * rows_of_vector + p.row % rows_of_vector) * lanes + p.column % lanes;
  }

  // The place of a sum in t.partial_sums.
  Expr PartialAt(const Point& p) const {
    return first_partial_ + p.row * Expr(t_.plan.tile.columns()) + p.column;
  }

  // An expression in the contraction's axes at a point of this tile.
  Expr At(const Expr& e, const Point& p) const {
    loop::Substitution s = AtRow(t_, place_, p.outer, p.row);
    s[t_.c.column.var.get()] = place_.block * Expr(t_.plan.tile.columns()) + p.column;
    if (t_.plan.packs()) {
      s[t_.block.get()] = place_.block;
      s[t_.column.get()] = p.column;
    }
    if (t_.dot.has_value()) s[t_.tile_row.get()] = p.outer * Expr(place_.rows) + p.row;
    return loop::Substitute(e, s);
  }

  // make(point) for all rows and for `count` columns by vectors of `lanes`. Loops over rows are of
  // `kind`.
  Stmt Each(ForKind kind, int64_t count, int64_t lanes, const PointStmt& make) const {
    // A loop over the rows of matrices has several vectors in an iteration.
    const int64_t rows_together = of_matrices_ && place_.rows % 2 == 0 ? 2 : 1;
    const ForKind together = of_matrices_ ? ForKind::kUnrolled : kind;
    const Var outer = loop::MakeVar("outer"), rows_at = loop::MakeVar("m"),
              row_of_these = loop::MakeVar("row");
    const Expr m = rows_at * Expr(rows_together) + row_of_these;
    const int64_t whole = count / lanes;
    std::vector<Stmt> parts;
    if (whole > 0) {
      const Var v = loop::MakeVar("v"), lane = loop::MakeVar("lane");
      parts.push_back(Nest(
          {{v, whole}}, together,
          Nest({{lane, lanes}}, ForKind::kVectorized, make({outer, m, v * Expr(lanes) + lane}))));
    }
    if (const int64_t rest = count - whole * lanes; rest > 0) {
      const Var lane = loop::MakeVar("lane");
      parts.push_back(
          Nest({{lane, rest}}, ForKind::kVectorized, make({outer, m, Expr(whole * lanes) + lane})));
    }
    return Nest({{outer, place_.outer_rows}, {rows_at, place_.rows / rows_together}}, kind,
                Nest({{row_of_these, rows_together}}, together, loop::MakeBlock(std::move(parts))));
  }
  Stmt EachSum(int64_t count, const PointStmt& make) const {
    return Each(over_rows_, count, sum_lanes_, make);
  }

  // make(point) for all lanes of the vectors of sums that hold the rows from `first` on.
  Stmt EachVector(const Expr& first, const PointStmt& make) const {
    const Var v = loop::MakeVar("v"), lane = loop::MakeVar("lane");
    const Expr columns = sum_lanes_;
    const Point p = {Expr(0), first + lane / columns, v * columns + lane % columns};
    return Nest({{v, vectors_}}, ForKind::kUnrolled,
                Nest({{lane, vector_rows_ * sum_lanes_}}, ForKind::kVectorized, make(p)));
  }

  // Sets sums of rows that do not exist to 0, by whole vectors.
  void ClearMissingRows() {
    if (place_.rows % rows_together_ == 0) return;
    for (int64_t row = place_.rows / vector_rows_ * vector_rows_; row < rows_;
         row += vector_rows_) {
      body_.push_back(EachVector(row, [&](const Point& p) {
        return loop::MakeStore(acc_, {SumAt(p)}, loop::Const(acc_->dtype, 0));
      }));
    }
  }

  void StartSums() {
    body_.push_back(EachSum(computed_, [&](const Point& p) {
      const Expr begin =
          t_.plan.parts > 1 ? loop::MakeLoad(t_.partial_sums, {PartialAt(p)}) : At(t_.init, p);
      return loop::MakeStore(acc_, {SumAt(p)}, begin);
    }));
  }

  // Prefetches the elements that epilogues read and that differ by row.
  void PrefetchEpilogues() {
    for (const loop::Load* load : EpilogueLoads(t_)) {
      const Expr index = FlatIndex(load->buffer, load->index, {});
      const int64_t line = LineElements(load->buffer->dtype);
      const Var outer = loop::MakeVar("outer"), m = loop::MakeVar("m");
      std::vector<Stmt> lines;
      for (int64_t column = 0; column < place_.columns; column += line) {
        lines.push_back(loop::MakePrefetch(load->buffer, At(index, {outer, m, Expr(column)}), 2));
      }
      body_.push_back(Nest({{outer, place_.outer_rows}, {m, place_.rows}}, over_rows_,
                           loop::MakeBlock(std::move(lines))));
    }
  }

  // The reduction, or this part of it.
  void AddProducts() {
    const Point first = {0, 0, 0};
    if (of_matrices_) {
      body_.push_back(
          ProductsOfMatrices(t_, place_, {acc_, first_sum_}, At(t_.x, first), At(t_.y, first)));
      return;
    }
    if (one_loop_ != nullptr) {
      body_.push_back(LoopInAssembly(t_, acc_, At(t_.x, first), At(t_.y, first)));
      return;
    }
    const auto product = [&](const Point& p) {
      return loop::MakeStore(acc_, {SumAt(p)},
                             AddProduct(t_, loop::MakeLoad(acc_, {SumAt(p)}),
                                        At(t_.dot ? t_.x : t_.c.x, p), At(t_.y, p)));
    };
    Stmt update = EachSum(computed_, product);
    if (vector_rows_ > 1) {
      const Var m = loop::MakeVar("m");
      update = Nest({{m, rows_ / vector_rows_}}, ForKind::kUnrolled,
                    EachVector(m * Expr(vector_rows_), product));
    }
    body_.push_back(Reduction(t_, place_, loop::MakeBlock({update, PrefetchColumns(t_, place_)}),
                              rows_ / vector_rows_ * DivideUp(computed_, sum_lanes_)));
  }

  void StorePartialSums() {
    body_.push_back(EachSum(computed_, [&](const Point& p) {
      return loop::MakeStore(t_.partial_sums, {PartialAt(p)}, loop::MakeLoad(acc_, {SumAt(p)}));
    }));
  }

  // Sums that become wider vectors, or that a loop goes over, move to memory of their own, so that
  // they stay in registers until then.
  void MoveSumsApart() {
    sums_ = loop::MakeBuffer("sums", acc_->dtype, acc_->shape, loop::BufferScope::kLocal);
    body_.push_back(EachSum(place_.columns, [&](const Point& p) {
      return loop::MakeStore(sums_, {InRow(p)}, loop::MakeLoad(acc_, {SumAt(p)}));
    }));
  }

  void Store(const Epilogue& epilogue) {
    const ForKind kind = t_.code.loops_over_sums ? ForKind::kSerial : over_rows_;
    body_.push_back(Each(kind, place_.columns, epilogue_lanes_, [&](const Point& p) {
      const Expr value = ReplaceLoads(epilogue.value, t_.sums, [&](const std::vector<Expr>&) {
        return sums_ == nullptr ? loop::MakeLoad(acc_, {SumAt(p)})
                                : loop::MakeLoad(sums_, {InRow(p)});
      });
      std::vector<Expr> index;
      for (const Expr& i : epilogue.index) index.push_back(At(i, p));
      return loop::MakeStore(epilogue.buffer, index, At(value, p));
    }));
  }

  // The statements with the memory of the sums.
  Stmt Allocating() {
    Stmt tile = loop::MakeBlock(std::move(body_));
    if (!in_place_) tile = loop::MakeAllocate(acc_, tile);
    return sums_ == nullptr ? tile : loop::MakeAllocate(sums_, tile);
  }

  const TiledContraction& t_;
  const TilePlace& place_;
  const DotLoop* const one_loop_ = t_.dot.has_value() ? t_.dot->loop : nullptr;
  const bool of_matrices_ = t_.of_matrices();
  // Registers that hold matrices add to partial sums in their place.
  const bool in_place_ = of_matrices_ && t_.plan.parts > 1;
  const int64_t sum_lanes_ = t_.plan.tile.lanes;
  const int64_t vectors_ =
      in_memory() ? t_.plan.tile.vectors : DivideUp(place_.columns, sum_lanes_);
  const int64_t row_stride_ = vectors_ * sum_lanes_;
  const int64_t vector_rows_ = t_.dot.has_value() ? t_.dot->vector_rows : 1;
  const int64_t rows_together_ = t_.dot.has_value() ? t_.dot->panel_rows() : 1;
  const int64_t rows_ = of_matrices_ ? place_.matrix_rows()
                                     : place_.outer_rows * AlignUp(place_.rows, rows_together_);
  const Expr first_partial_ =
      (place_.block * Expr(t_.partial_rows) + place_.row - place_.first_row) *
      Expr(t_.plan.tile.columns());
  const Expr first_sum_ = in_place_ ? first_partial_ : Expr(0);
  // Code for all sums is a loop over rows if there are many rows.
  const ForKind over_rows_ = of_matrices_ ? ForKind::kSerial : ForKind::kUnrolled;
  // Packed columns are padded with zeros to whole vectors; others may only be read where they
  // exist.
  const int64_t computed_ = t_.plan.packs() ? row_stride_ : place_.columns;
  const int64_t epilogue_lanes_ =
      t_.plan.epilogue_lanes > 0 && place_.columns % t_.plan.epilogue_lanes == 0
          ? t_.plan.epilogue_lanes
          : sum_lanes_;
  Buffer acc_ = t_.partial_sums;
  Buffer sums_ = nullptr;  // a copy of the sums, row by row
  std::vector<Stmt> body_;
};

}  // namespace

Stmt EmitTile(const TiledContraction& t, const TilePlace& place) {
  return TileEmitter(t, place).Emit();
}

}  // namespace kiln::schedule
