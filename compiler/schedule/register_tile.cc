// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/register_tile.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/loop/dot_tile.h"

namespace kiln::schedule {
namespace {

// How far ahead columns are prefetched: what arrives from memory while one line takes its latency.
// The hardware prefetches too, but stops at the end of every page. Measured with 8 rows on Zen 5:
// 15 GB/s with 1 KiB, 38 with 4, 47 with 8.
constexpr int64_t kPrefetchBytes = 8192;
// Tiles of fewer rows load far enough ahead of their multiply-adds by themselves. Measured: with
// prefetches 2 rows take 1.18 times as long, 3 rows 0.84 times.
constexpr int64_t kMinRowsOfPrefetch = 3;
// Where more tiles read the same columns, these come from the L2 cache, which the hardware does
// well; prefetches of them then keep the next columns, which come from memory, waiting. Measured for
// products of weights of 2.4 MB on Sapphire Rapids: with such prefetches too, 2 tiles take 0.9 times
// as long, 4 tiles 1.0, 8 tiles 1.03.
constexpr int64_t kMaxTilesFromMemory = 2;

// Multiply-adds of an innermost loop: it fits into the cache of decoded instructions with its
// neighbours.
constexpr int64_t kMaxUnrolled = 112;
// Of dots of one sum on machines where code has to be small.
constexpr int64_t kScalarDotsUnrolled = 16;
constexpr int64_t kMaxSteps = 4;  // of the reduction in one iteration
// Cache lines of later rows that an iteration asks for: with more the tile would wait for memory.
constexpr int64_t kMaxRowLines = 4;
// Steps of a reduction that give time to fetch what the epilogue reads.
constexpr int64_t kMinStepsAhead = 32;

Expr FirstLane(const Expr& index) {
  if (const auto* ramp = index.As<loop::Ramp>()) return ramp->base;
  const auto* broadcast = index.As<loop::Broadcast>();
  return broadcast == nullptr ? index : broadcast->a;
}

// The element of a load's buffer that it reads, or of several the first.
Expr FirstElement(const loop::Load& load) {
  std::vector<Expr> index;
  for (const Expr& i : load.index) index.push_back(FirstLane(i));
  return FlatIndex(load.buffer, index, {});
}

// Elements of a column that a step of the reduction reads.
int64_t ElementsOfStep(const TiledContraction& t) { return t.dot.has_value() ? t.dot->group : 1; }

// Where the part of a reduction of one axis begins.
Expr BeginOfPart(const TiledContraction& t, const TilePlace& place) {
  return place.part * Expr(t.c.reduce.front().extent / t.parts);
}

// Prefetches the cache lines of the columns that the reduction reads later.
Stmt PrefetchColumns(const TiledContraction& t, const TilePlace& place) {
  if (t.prefetch_distance == 0) return {};
  const loop::Load& load = *FactorLoad(t.y);
  const int64_t line = LineElements(load.buffer->dtype) / ElementsOfStep(t);
  std::vector<Stmt> stmts;
  for (int64_t column = 0; column < place.columns; column += line) {
    const Expr at = loop::Substitute(
        FirstElement(load), {{t.block.get(), place.block}, {t.column.get(), Expr(column)}});
    stmts.push_back(loop::MakePrefetch(load.buffer, at + Expr(t.prefetch_distance)));
  }
  return loop::MakeBlock(std::move(stmts));
}

// Of `lines` those that iteration `i` of `iterations` asks for, so that all are asked for, and none
// long before the others: a core has few lines on their way from memory, and those from the L2 cache
// wait behind them.
struct Share {
  Expr first;
  int64_t count;
};
Share ShareOf(const Expr& i, int64_t iterations, int64_t lines) {
  const int64_t divisor = std::gcd(lines, iterations);
  return {i * Expr(lines / divisor) / Expr(iterations / divisor), DivideUp(lines, iterations)};
}

// Asks for a part of the columns behind those that several tiles share, from iteration `i` of
// `iterations` of a reduction: all iterations of all these tiles take as many cache lines, but for
// rounding.
Stmt PrefetchNextColumns(const TiledContraction& t, const TilePlace& place, const Expr& i,
                         int64_t iterations) {
  if (!t.shared_columns.has_value()) return {};
  const auto [elements, passes] = *t.shared_columns;
  const loop::Load& load = *FactorLoad(t.y);
  loop::Substitution at = {{t.block.get(), place.block}, {t.column.get(), Expr(0)}};
  for (const Axis& axis : t.c.reduce) at[axis.var.get()] = Expr(0);
  if (t.parts > 1) at[t.c.reduce.front().var.get()] = BeginOfPart(t, place);
  const int64_t line = LineElements(load.buffer->dtype);
  const Share share =
      ShareOf(place.pass * Expr(iterations) + i, passes * iterations, DivideUp(elements, line));
  const Expr first = loop::Substitute(FlatIndex(load.buffer, load.index, {}), at) + Expr(elements) +
                     share.first * Expr(line);
  std::vector<Stmt> stmts;
  for (int64_t l = 0; l < share.count; ++l) {
    stmts.push_back(loop::MakePrefetch(load.buffer, first + Expr(l * line), 2));
  }
  return loop::MakeBlock(std::move(stmts));
}

// The same for the rows behind those of a tile, which follow each other in memory.
Stmt PrefetchNextRows(const TiledContraction& t, const TilePlace& place, const Expr& i,
                      int64_t iterations) {
  if (t.blocks_per_row_tile == 0) return {};
  const loop::Load& load = *FactorLoad(t.c.x);
  const int64_t line = LineElements(load.buffer->dtype);
  const int64_t row_lines = DivideUp(t.c.reduce.back().extent, line);
  const int64_t lines = DivideUp(t.tile.rows * row_lines, t.blocks_per_row_tile * iterations);
  if (lines > kMaxRowLines) return {};
  std::vector<Stmt> stmts;
  for (int64_t l = 0; l < lines; ++l) {
    const Expr which = (place.block * Expr(iterations) + i) * Expr(lines) + Expr(l);
    const loop::Substitution at = {
        {t.c.rows.back().var.get(),
         place.row + Expr(t.tile.rows) + (row_lines == 1 ? which : which / Expr(row_lines))},
        {t.c.reduce.back().var.get(),
         row_lines == 1 ? Expr(0) : which % Expr(row_lines) * Expr(line)}};
    stmts.push_back(loop::MakePrefetch(
        load.buffer, loop::Substitute(FlatIndex(load.buffer, load.index, {}), at), 2));
  }
  return loop::MakeBlock(std::move(stmts));
}

// `step` inside of loops over the reduction, several steps to an iteration: the fewer instructions
// count loops, the more are multiply-adds.
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

// Loads of the epilogues that differ by row, and whose place is known when a tile begins: neither
// those of the sums nor those that look the sums up in a table.
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

// All steps of a tile's reduction: of the rows and columns whose first groups are loads x and y of
// the first step.
Stmt LoopInAssembly(const TiledContraction& t, const Buffer& sums, const Expr& x, const Expr& y) {
  loop::Substitution first_step;
  for (const Axis& axis : t.c.reduce) first_step[axis.var.get()] = 0;
  const auto first = [&](const Expr& groups) {
    const auto* load = groups.As<loop::Load>();
    return loop::Argument{load->buffer, loop::Substitute(FirstElement(*load), first_step)};
  };
  loop::DotKind kind = t.dot->kind();
  kind.steps = static_cast<int>(t.dot->steps);
  kind.run = t.dot->loop->run;
  return loop::MakeDotTile(kind, t.dot->loop->rows, t.dot->loop->columns, {sums, 0}, first(x),
                           first(y));
}

// The same, in registers that hold matrices.
Stmt ProductsOfMatrices(const TiledContraction& t, const TilePlace& place, const Buffer& sums,
                        const Expr& x, const Expr& y) {
  const int64_t rows = place.matrix_rows(), columns = t.tile.columns();
  const int64_t parts = PartsOfMatrices(*t.dot);
  loop::DotKind kind = t.dot->kind();
  kind.steps = static_cast<int>(t.dot->steps / parts);
  const Axis part = {loop::MakeVar("part"), parts};
  const int64_t terms = kind.steps * t.dot->group;
  loop::Substitution first_step;
  for (const Axis& axis : t.c.reduce) first_step[axis.var.get()] = 0;
  const auto first = [&](const Expr& e, int64_t elements) {
    const loop::Load& load = *FactorLoad(e);
    return loop::Argument{load.buffer, loop::Substitute(FirstElement(load), first_step) +
                                           part.var * Expr(elements * terms)};
  };
  return Nest({part}, ForKind::kSerial,
              loop::MakeDotTile(kind, static_cast<int>(rows), static_cast<int>(columns), {sums, 0},
                                first(x, rows), first(y, columns)));
}

// The sum after a step of the reduction.
Expr AddProduct(const TiledContraction& t, const Expr& sum, const Expr& x, const Expr& y) {
  if (t.dot.has_value()) return AddDot(*t.dot, sum, x, y);
  return t.fused_multiply_add ? loop::MakeFma(x, y, sum) : sum + x * y;
}

// Whether so few tiles read the columns that memory says how fast.
bool ReadsColumnsFromMemory(const TiledContraction& t) {
  return TotalExtent(t.c.rows) <= kMaxTilesFromMemory * t.tile.outer_rows * t.tile.rows;
}

int64_t BytesOfColumns(const TiledContraction& t) {
  return t.c.column.extent * TotalExtent(t.c.reduce) * ElementsOfStep(t) *
         FactorLoad(t.y)->buffer->dtype.bytes();
}

constexpr int64_t kMaxLanes = 1 << 16;  // of a value

}  // namespace

TileShape TileOfMatrices(const Contraction& c) {
  constexpr int64_t kRows = 2 * kMatrixSide, kFewColumns = 5;
  const int64_t rows = std::min(RowExtent(c, 0), kRows);
  const int64_t vectors = DivideUp(c.column.extent, kMatrixSide);
  const bool one = vectors % 2 == 1 && vectors <= kFewColumns;
  return {.outer_rows = std::clamp<int64_t>(kRows / rows, 1, RowExtent(c, 1)),
          .rows = rows,
          .vectors = one ? 1 : 2,
          .lanes = kMatrixSide};
}

int64_t PartsOfMatrices(const DotPlan& plan) {
  return DivideUp(plan.steps * plan.group * 2 * kMatrixSide, kMaxLanes);
}

void SetReduction(TiledContraction& t, const Target& target) {
  t.fused_multiply_add = t.init.type().dtype.is_float() && target.has_fma;
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
  // Without a tile of outer rows their axis has a loop of its own.
  if (t.tile.outer_rows > 1) at[t.c.rows[num_rows - 2].var.get()] = place.outer_row + outer;
  return at;
}

Stmt EmitTile(const TiledContraction& t, const TilePlace& place) {
  const int64_t sum_lanes = t.tile.lanes;
  const DotLoop* one_loop = t.dot.has_value() ? t.dot->loop : nullptr;
  const bool of_matrices = t.dot.has_value() && t.dot->of_matrices();
  // Whether sums are in memory, and not in registers.
  const bool in_memory = one_loop != nullptr || of_matrices;
  const int64_t vectors = in_memory ? t.tile.vectors : DivideUp(place.columns, sum_lanes);
  const int64_t row_stride = vectors * sum_lanes;
  // A vector of sums has the lanes of one row behind those of the other.
  const int64_t vector_rows = t.dot.has_value() ? t.dot->vector_rows : 1;
  const int64_t together = t.dot.has_value() ? t.dot->panel_rows() : 1;
  const int64_t rows =
      of_matrices ? place.matrix_rows() : place.outer_rows * AlignUp(place.rows, together);
  const Buffer acc = loop::MakeBuffer("acc", t.init.type().dtype, {rows * row_stride},
                                      loop::BufferScope::kLocal, of_matrices ? kMatrixRowBytes : 0);
  // What is done for all sums is a loop over rows where these are many.
  const ForKind over_rows = of_matrices ? ForKind::kSerial : ForKind::kUnrolled;
  // A point of the tile: its rows and its column.
  struct Point {
    Expr outer, row, column;
  };
  const auto in_row = [&](const Point& p) {
    return (p.outer * Expr(place.rows) + p.row) * Expr(row_stride) + p.column;
  };
  const auto sum_at = [&](const Point& p) {
    if (vector_rows == 1) return in_row(p);
    const Expr lanes = sum_lanes, rows_of_vector = vector_rows;
    const Expr vector = p.row / rows_of_vector * Expr(vectors) + p.column / lanes;
    return (vector * rows_of_vector + p.row % rows_of_vector) * lanes + p.column % lanes;
  };
  // An expression in the contraction's axes at a point of this tile.
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
  // body(point) for all rows and for `count` columns, as straight-line code of vectors.
  const auto each_in = [&](ForKind kind, int64_t count, int64_t lanes,
                           const std::function<Stmt(const Point&)>& body) {
    const Var outer = loop::MakeVar("outer"), m = loop::MakeVar("m");
    const int64_t whole = count / lanes;
    std::vector<Stmt> parts;
    if (whole > 0) {
      const Var v = loop::MakeVar("v"), lane = loop::MakeVar("lane");
      parts.push_back(Nest(
          {{v, whole}}, kind,
          Nest({{lane, lanes}}, ForKind::kVectorized, body({outer, m, v * Expr(lanes) + lane}))));
    }
    if (const int64_t rest = count - whole * lanes; rest > 0) {
      const Var lane = loop::MakeVar("lane");
      parts.push_back(
          Nest({{lane, rest}}, ForKind::kVectorized, body({outer, m, Expr(whole * lanes) + lane})));
    }
    return Nest({{outer, place.outer_rows}, {m, place.rows}}, kind,
                loop::MakeBlock(std::move(parts)));
  };
  const auto each = [&](int64_t count, int64_t lanes,
                        const std::function<Stmt(const Point&)>& make) {
    return each_in(over_rows, count, lanes, make);
  };

  // Asks for what an epilogue reads that differs by row.
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

  // Packed columns are padded with zeros to whole vectors; others may only be read where they
  // exist.
  const int64_t computed = t.packed ? row_stride : place.columns;
  std::vector<Stmt> body;
  // make(point) for all lanes of the vectors of sums that hold rows `first` and those behind it.
  const auto each_vector = [&](const Expr& first, const std::function<Stmt(const Point&)>& make) {
    const Var v = loop::MakeVar("v"), lane = loop::MakeVar("lane");
    const Expr columns = sum_lanes;
    const Point p = {Expr(0), first + lane / columns, v * columns + lane % columns};
    return Nest({{v, vectors}}, ForKind::kUnrolled,
                Nest({{lane, vector_rows * sum_lanes}}, ForKind::kVectorized, make(p)));
  };
  // Sums of rows that do not exist, by whole vectors.
  for (int64_t row = place.rows / vector_rows * vector_rows;
       place.rows % together > 0 && row < rows; row += vector_rows) {
    body.push_back(each_vector(row, [&](const Point& p) {
      return loop::MakeStore(acc, {sum_at(p)}, loop::Const(acc->dtype, 0));
    }));
  }
  const auto partial = [&](const Point& p) {
    return std::vector<Expr>{place.row + p.row, p.column};
  };
  body.push_back(each(computed, sum_lanes, [&](const Point& p) {
    const Expr begin = t.parts > 1 ? loop::MakeLoad(t.partial_sums, partial(p)) : at(t.init, p);
    return loop::MakeStore(acc, {sum_at(p)}, begin);
  }));
  if (place.last_part) {
    for (const loop::Load* load : EpilogueLoads(t)) body.push_back(ask_for(*load));
  }
  const auto product = [&](const Point& p) {
    return loop::MakeStore(
        acc, {sum_at(p)},
        AddProduct(t, loop::MakeLoad(acc, {sum_at(p)}), at(t.dot ? t.x : t.c.x, p), at(t.y, p)));
  };
  Stmt update = each(computed, sum_lanes, product);
  if (vector_rows > 1) {
    const Var m = loop::MakeVar("m");
    update = Nest({{m, rows / vector_rows}}, ForKind::kUnrolled,
                  each_vector(m * Expr(vector_rows), product));
  }
  body.push_back(of_matrices
                     ? ProductsOfMatrices(t, place, acc, at(t.x, {0, 0, 0}), at(t.y, {0, 0, 0}))
                 : one_loop != nullptr
                     ? LoopInAssembly(t, acc, at(t.x, {0, 0, 0}), at(t.y, {0, 0, 0}))
                     : Reduction(t, place, loop::MakeBlock({update, PrefetchColumns(t, place)}),
                                 rows / vector_rows * DivideUp(computed, sum_lanes)));
  if (!place.last_part) {
    body.push_back(each(computed, sum_lanes, [&](const Point& p) {
      return loop::MakeStore(t.partial_sums, partial(p), loop::MakeLoad(acc, {sum_at(p)}));
    }));
    return loop::MakeAllocate(acc, loop::MakeBlock(std::move(body)));
  }
  const bool widens = t.epilogue_lanes > 0 && place.columns % t.epilogue_lanes == 0;
  const int64_t wide = widens ? t.epilogue_lanes : sum_lanes;
  // Sums that become vectors, or that a loop goes over, lie in memory of their own, so that they are
  // in registers until then; a loop in assembly leaves them in memory.
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
  Stmt tile = loop::MakeAllocate(acc, loop::MakeBlock(std::move(body)));
  return sums == acc ? tile : loop::MakeAllocate(sums, tile);
}

}  // namespace kiln::schedule
