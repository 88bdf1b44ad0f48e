// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/register_tile.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/schedule/tile_prefetch.h"
#include "compiler/target/float_units.h"

namespace kiln::schedule {
namespace {

// Distance of column prefetches: the bytes that arrive from memory during the latency of one line.
// The hardware prefetches too, but stops at the end of every page. Measured with 8 rows on Zen 5:
// 15 GB/s with 1 KiB, 38 with 4, 47 with 8.
constexpr int64_t kPrefetchBytes = 8192;
// Minimum number of rows of a tile that prefetches columns. Tiles of fewer rows load far enough
// ahead of their multiply-adds anyway. Measured with prefetches: 2 rows take 1.18 times as long, 3
// rows 0.84 times.
constexpr int64_t kMinRowsOfPrefetch = 3;
// Maximum number of tiles that read the same columns and prefetch them. If more tiles read them,
// columns come from the L2 cache, which the hardware does well. Prefetches would then delay the
// next columns, which come from memory. Measured for products of weights of 2.4 MB on Sapphire
// Rapids, with such prefetches too: 2 tiles take 0.9 times as long, 4 tiles 1.0, 8 tiles 1.03.
constexpr int64_t kMaxTilesFromMemory = 2;

// Maximum number of multiply-adds in an innermost loop. The loop then fits into the cache of
// decoded instructions, together with its neighbors.
constexpr int64_t kMaxUnrolled = 112;
// The same for dots of one sum on machines where code has to be small.
constexpr int64_t kScalarDotsUnrolled = 16;
constexpr int64_t kMaxSteps = 4;  // steps of the reduction in one iteration
// Minimum number of steps of a reduction that leave time to fetch the data of the epilogue.
constexpr int64_t kMinStepsAhead = 32;

// Returns `step` inside of loops over the reduction. Each iteration has several steps, so that few
// instructions are spent on the loops.
Stmt Reduction(const TiledContraction& t, const TilePlace& place, const Stmt& step,
               int64_t accumulators) {
  std::vector<Axis> outer = t.c.reduce;
  Stmt body = step;
  if (t.parts > 1) {
    const Var var = outer.front().var;
    outer.front() = {loop::MakeVar(var.As<loop::VarNode>()->name), outer.front().extent / t.parts};
    body = loop::Substitute(step, {{var.get(), BeginOfPart(t, place) + outer.front().var}});
  }
  int64_t steps = 1;
  const int64_t extent = outer.back().extent;
  for (int64_t s = 2; s <= std::min(t.max_unrolled / accumulators, kMaxSteps); ++s) {
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

bool Reads(const Expr& e, const Buffer& buffer) {
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
  if (!t.prefetches_epilogues || t.c.rows.empty()) return loads;
  for (const Epilogue& epilogue : t.epilogues) {
    loop::VisitExpr(epilogue.value, [&](const Expr& e) {
      const auto* load = e.As<loop::Load>();
      if (load == nullptr || Reads(e, t.sums)) return;
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
  const int64_t rows = place.matrix_rows(), columns = t.tile.columns();
  const Axis step = {loop::MakeVar("step"), t.dot->steps / t.parts};
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
  return t.fused_multiply_add ? loop::MakeFma(x, y, sum) : sum + x * y;
}

// True if so few tiles read the columns that memory determines the speed.
bool ReadsColumnsFromMemory(const TiledContraction& t) {
  return TotalExtent(t.c.rows) <= kMaxTilesFromMemory * t.tile.outer_rows * t.tile.rows;
}

int64_t BytesOfColumns(const TiledContraction& t) {
  return t.c.column.extent * TotalExtent(t.c.reduce) * ElementsOfStep(t) *
         FactorLoad(t.y)->buffer->dtype.bytes();
}

}  // namespace

void SetReduction(TiledContraction& t, const Target& target) {
  t.fused_multiply_add = FusesMultiplyAdd(target, t.init.type().dtype);
  const bool scalar_dots = t.dot.has_value() && t.dot->row != nullptr && t.tile.lanes == 1;
  t.max_unrolled = !target.short_of_memory ? kMaxUnrolled : scalar_dots ? kScalarDotsUnrolled : 1;
  const bool ahead = t.packed && target.has_caches &&
                     t.tile.outer_rows * t.tile.rows >= kMinRowsOfPrefetch &&
                     ReadsColumnsFromMemory(t) && BytesOfColumns(t) > target.l1_bytes / 2;
  t.prefetch_distance = ahead ? kPrefetchBytes / FactorLoad(t.y)->buffer->dtype.bytes() : 0;
  t.prefetches_epilogues = target.has_caches && TotalExtent(t.c.reduce) >= kMinStepsAhead;
}

loop::Substitution AtRow(const TiledContraction& t, const TilePlace& place, const Expr& outer,
                         const Expr& row) {
  loop::Substitution at;
  const size_t num_rows = t.c.rows.size();
  if (num_rows >= 1) at[t.c.rows[num_rows - 1].var.get()] = place.row + row;
  // If the tile has one outer row, the outer row axis has a loop of its own.
  if (t.tile.outer_rows > 1) at[t.c.rows[num_rows - 2].var.get()] = place.outer_row + outer;
  return at;
}

Stmt EmitTile(const TiledContraction& t, const TilePlace& place) {
  const int64_t sum_lanes = t.tile.lanes;
  const DotLoop* one_loop = t.dot.has_value() ? t.dot->loop : nullptr;
  const bool of_matrices = t.dot.has_value() && t.dot->of_matrices();
  // True if the sums are in memory instead of registers.
  const bool in_memory = one_loop != nullptr || of_matrices;
  const int64_t vectors = in_memory ? t.tile.vectors : DivideUp(place.columns, sum_lanes);
  const int64_t row_stride = vectors * sum_lanes;
  // A vector of sums has the lanes of one row after those of the other.
  const int64_t vector_rows = t.dot.has_value() ? t.dot->vector_rows : 1;
  const int64_t together = t.dot.has_value() ? t.dot->panel_rows() : 1;
  const int64_t rows =
      of_matrices ? place.matrix_rows() : place.outer_rows * AlignUp(place.rows, together);
  // Registers that hold matrices add to the partial sums in place.
  const bool in_place = of_matrices && t.parts > 1;
  const Buffer acc =
      in_place ? t.partial_sums
               : loop::MakeBuffer("acc", t.init.type().dtype, {rows * row_stride},
                                  loop::BufferScope::kLocal, of_matrices ? kMatrixRowBytes : 0);
  const Expr first_partial =
      (place.block * Expr(t.partial_rows) + place.row - place.first_row) * Expr(t.tile.columns());
  const Expr first_sum = in_place ? first_partial : Expr(0);
  // Code for all sums is a loop over rows if there are many rows.
  const ForKind over_rows = of_matrices ? ForKind::kSerial : ForKind::kUnrolled;
  // A point of the tile: its rows and its column.
  struct Point {
    Expr outer, row, column;
  };
  const auto in_row = [&](const Point& p) {
    return first_sum + (p.outer * Expr(place.rows) + p.row) * Expr(row_stride) + p.column;
  };
  const auto sum_at = [&](const Point& p) {
    if (vector_rows == 1) return in_row(p);
    const Expr lanes = sum_lanes, rows_of_vector = vector_rows;
    const Expr vector = p.row / rows_of_vector * Expr(vectors) + p.column / lanes;
    return (vector * rows_of_vector + p.row % rows_of_vector) * lanes + p.column % lanes;
  };
  // Returns an expression in the contraction's axes at a point of this tile.
  const auto at = [&](const Expr& e, const Point& p) {
    loop::Substitution s = AtRow(t, place, p.outer, p.row);
    s[t.c.column.var.get()] = place.block * Expr(t.tile.columns()) + p.column;
    if (t.packed) {
      s[t.block.get()] = place.block;
      s[t.column.get()] = p.column;
    }
    if (t.dot.has_value()) s[t.tile_row.get()] = p.outer * Expr(place.rows) + p.row;
    return loop::Substitute(e, s);
  };
  // Emits body(point) for all rows and for `count` columns, in vectors of `lanes`. `kind` is that
  // of the loops.
  const auto each_in = [&](ForKind kind, int64_t count, int64_t lanes,
                           const std::function<Stmt(const Point&)>& body) {
    // A loop over the rows of matrices computes two rows per iteration if their number is even.
    const int64_t rows_together = of_matrices && place.rows % 2 == 0 ? 2 : 1;
    const ForKind together = of_matrices ? ForKind::kUnrolled : kind;
    const Var outer = loop::MakeVar("outer"), rows_at = loop::MakeVar("m"),
              row_of_these = loop::MakeVar("row");
    const Expr m = rows_at * Expr(rows_together) + row_of_these;
    const int64_t whole = count / lanes;
    std::vector<Stmt> parts;
    if (whole > 0) {
      const Var v = loop::MakeVar("v"), lane = loop::MakeVar("lane");
      parts.push_back(Nest(
          {{v, whole}}, together,
          Nest({{lane, lanes}}, ForKind::kVectorized, body({outer, m, v * Expr(lanes) + lane}))));
    }
    if (const int64_t rest = count - whole * lanes; rest > 0) {
      const Var lane = loop::MakeVar("lane");
      parts.push_back(
          Nest({{lane, rest}}, ForKind::kVectorized, body({outer, m, Expr(whole * lanes) + lane})));
    }
    return Nest({{outer, place.outer_rows}, {rows_at, place.rows / rows_together}}, kind,
                Nest({{row_of_these, rows_together}}, together, loop::MakeBlock(std::move(parts))));
  };
  const auto each = [&](int64_t count, int64_t lanes,
                        const std::function<Stmt(const Point&)>& make) {
    return each_in(over_rows, count, lanes, make);
  };

  // Prefetches the data that a load of an epilogue reads in each row.
  const auto ask_for = [&](const loop::Load& load) {
    const Expr index = FlatIndex(load.buffer, load.index, {});
    const int64_t line = LineElements(load.buffer->dtype);
    const Var outer = loop::MakeVar("outer"), m = loop::MakeVar("m");
    std::vector<Stmt> lines;
    for (int64_t column = 0; column < place.columns; column += line) {
      lines.push_back(loop::MakePrefetch(load.buffer, at(index, {outer, m, Expr(column)}), 2));
    }
    return Nest({{outer, place.outer_rows}, {m, place.rows}}, over_rows,
                loop::MakeBlock(std::move(lines)));
  };

  // Packed columns are padded with zeros to whole vectors. Other columns may be read only where
  // they exist.
  const int64_t computed = t.packed ? row_stride : place.columns;
  std::vector<Stmt> body;
  // Emits make(point) for all lanes of the vectors of sums that hold row `first` and the rows after
  // it.
  const auto each_vector = [&](const Expr& first, const std::function<Stmt(const Point&)>& make) {
    const Var v = loop::MakeVar("v"), lane = loop::MakeVar("lane");
    const Expr columns = sum_lanes;
    const Point p = {Expr(0), first + lane / columns, v * columns + lane % columns};
    return Nest({{v, vectors}}, ForKind::kUnrolled,
                Nest({{lane, vector_rows * sum_lanes}}, ForKind::kVectorized, make(p)));
  };
  // Sums of rows that do not exist are cleared in whole vectors.
  for (int64_t row = place.rows / vector_rows * vector_rows;
       place.rows % together > 0 && row < rows; row += vector_rows) {
    body.push_back(each_vector(row, [&](const Point& p) {
      return loop::MakeStore(acc, {sum_at(p)}, loop::Const(acc->dtype, 0));
    }));
  }
  const auto partial = [&](const Point& p) {
    return first_partial + p.row * Expr(t.tile.columns()) + p.column;
  };
  if (!in_place) {
    body.push_back(each(computed, sum_lanes, [&](const Point& p) {
      const Expr begin = t.parts > 1 ? loop::MakeLoad(t.partial_sums, {partial(p)}) : at(t.init, p);
      return loop::MakeStore(acc, {sum_at(p)}, begin);
    }));
  }
  if (place.last_part) {
    for (const loop::Load* load : EpilogueLoads(t)) body.push_back(ask_for(*load));
  }
  const auto product = [&](const Point& p) {
    return loop::MakeStore(
        acc, {sum_at(p)},
        AddProduct(t, loop::MakeLoad(acc, {sum_at(p)}), at(t.dot ? t.x : t.c.x, p), at(t.y, p)));
  };
  if (of_matrices) {
    body.push_back(
        ProductsOfMatrices(t, place, {acc, first_sum}, at(t.x, {0, 0, 0}), at(t.y, {0, 0, 0})));
  } else if (one_loop != nullptr) {
    body.push_back(LoopInAssembly(t, acc, at(t.x, {0, 0, 0}), at(t.y, {0, 0, 0})));
  } else {
    Stmt update = each(computed, sum_lanes, product);
    if (vector_rows > 1) {
      const Var m = loop::MakeVar("m");
      update = Nest({{m, rows / vector_rows}}, ForKind::kUnrolled,
                    each_vector(m * Expr(vector_rows), product));
    }
    body.push_back(Reduction(t, place, loop::MakeBlock({update, PrefetchColumns(t, place)}),
                             rows / vector_rows * DivideUp(computed, sum_lanes)));
  }
  if (!place.last_part && in_place) return loop::MakeBlock(std::move(body));
  if (!place.last_part) {
    body.push_back(each(computed, sum_lanes, [&](const Point& p) {
      return loop::MakeStore(t.partial_sums, {partial(p)}, loop::MakeLoad(acc, {sum_at(p)}));
    }));
    return loop::MakeAllocate(acc, loop::MakeBlock(std::move(body)));
  }
  const bool widens = t.epilogue_lanes > 0 && place.columns % t.epilogue_lanes == 0;
  const int64_t wide = widens ? t.epilogue_lanes : sum_lanes;
  // Sums that become wider vectors, or that a loop processes, are copied to memory of their own.
  // The accumulators are in registers until then. A loop in assembly leaves its sums in memory.
  Buffer sums = acc;
  const bool apart = widens || (t.code.loops_over_sums && !in_memory);
  if (apart) {
    sums = loop::MakeBuffer("sums", acc->dtype, acc->shape, loop::BufferScope::kLocal);
    body.push_back(each(place.columns, sum_lanes, [&](const Point& p) {
      return loop::MakeStore(sums, {in_row(p)}, loop::MakeLoad(acc, {sum_at(p)}));
    }));
  }
  for (const Epilogue& epilogue : t.epilogues) {
    const ForKind kind = t.code.loops_over_sums ? ForKind::kSerial : over_rows;
    body.push_back(each_in(kind, place.columns, wide, [&](const Point& p) {
      const Expr value = ReplaceLoads(epilogue.value, t.sums, [&](const std::vector<Expr>&) {
        return loop::MakeLoad(sums, {apart ? in_row(p) : sum_at(p)});
      });
      std::vector<Expr> index;
      for (const Expr& i : epilogue.index) index.push_back(at(i, p));
      return loop::MakeStore(epilogue.buffer, index, at(value, p));
    }));
  }
  Stmt tile = loop::MakeBlock(std::move(body));
  if (!in_place) tile = loop::MakeAllocate(acc, tile);
  return sums == acc ? tile : loop::MakeAllocate(sums, tile);
}

}  // namespace kiln::schedule
