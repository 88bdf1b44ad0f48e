// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/register_tile.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/loop/dot_tile.h"

namespace kiln::schedule {
namespace {

// How far ahead columns are asked for: the hardware does that too, but stops at the end of every
// page.
constexpr int64_t kPrefetchBytes = 1024;

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
constexpr int64_t kPageBytes = 4096;
// A stream's steps for each zero behind them, at least.
constexpr int64_t kMinStepsOfZero = 64;

// `factor` with `load` in the place of its load.
Expr WithLoad(const Expr& factor, const Expr& load) {
  const auto* cast = factor.As<loop::Cast>();
  return cast == nullptr ? load : loop::MakeCast(factor.type(), WithLoad(cast->a, load));
}

std::string NameOf(const Var& var) { return var.As<loop::VarNode>()->name; }

// An axis of the packed column factor.
struct ColumnAxis {
  Var var;
  PackedAxis packed;
};

// Whether each vector of a tile's columns is packed by itself, so that a tile reads as many streams
// as it has vectors: memory that one tile alone reads comes faster that way, because the hardware
// looks ahead in each stream. Measured: 18 GB/s with 8 streams, 11 with 1.
bool PacksByVector(const TiledContraction& t, const Target& target) {
  const bool one_tile = TotalExtent(t.c.rows) == t.tile.outer_rows * t.tile.rows;
  return one_tile && t.tile.vectors > 1 && target.has_caches &&
         !KeepsColumns(TotalExtent(t.c.batch) * ColumnBytes(t.c), target);
}

// Zeros behind the `steps` of a stream, each of `step_bytes`, so that the streams of a tile are
// spread evenly over a page: they do not all come to the end of theirs at once. Measured: 17 GB/s
// with 8 streams instead of 14. None where they would weigh.
int64_t ZerosBetween(int64_t streams, int64_t steps, int64_t step_bytes) {
  const int64_t page = kPageBytes / step_bytes;
  const int64_t wanted = page / streams, found = steps % page;
  const int64_t zeros = (wanted - found + page) % page;
  return zeros <= steps / kMinStepsOfZero ? zeros : 0;
}

// A stage that copies the column factor into `axes`; columns beyond the last are zero.
Stage CopyStage(const TiledContraction& t, const loop::Load& load,
                const std::vector<ColumnAxis>& axes) {
  Stage copy{.buffer = nullptr,
             .axes = {},
             .index = {},
             .reduce = {},
             .combine = loop::Combine::kNone,
             .init = {},
             .value = {}};
  Shape shape;
  loop::Substitution fresh;
  for (const ColumnAxis& a : axes) {
    const Var var = loop::MakeVar(NameOf(a.var));
    copy.axes.push_back({var, a.packed.extent});
    copy.index.push_back(var);
    shape.push_back(a.packed.extent);
    fresh[a.var.get()] = var;
  }
  const int64_t columns = t.c.column.extent;
  const Expr column = fresh[t.block.get()] * Expr(t.tile.columns()) + fresh[t.column.get()];
  const bool whole = columns % t.tile.columns() == 0;
  fresh[t.c.column.var.get()] = whole ? column : loop::Min(column, Expr(columns - 1));
  const Expr value = loop::Substitute(loop::MakeLoad(load.buffer, load.index), fresh);
  copy.value =
      whole ? value : loop::MakeSelect(column < Expr(columns), value, loop::Const(value.type(), 0));
  copy.buffer = loop::MakeBuffer(absl::StrCat(load.buffer->name, "_packed"), load.buffer->dtype,
                                 shape, loop::BufferScope::kWorkspace);
  return copy;
}

// Asks for the columns of a later step of the reduction: their cache lines, each where columns lie
// side by side.
Stmt PrefetchColumns(const TiledContraction& t, const TilePlace& place) {
  if (t.prefetch_distance == 0) return {};
  const loop::Load& load = *FactorLoad(t.y);
  const int64_t line = LineElements(load.buffer->dtype);
  std::vector<Stmt> stmts;
  for (int64_t column = 0; column < place.columns; column += std::min(line, t.packed_columns)) {
    const Expr at =
        loop::Substitute(FlatIndex(load.buffer, load.index, {}),
                         {{t.block.get(), place.block}, {t.column.get(), Expr(column)}});
    stmts.push_back(loop::MakePrefetch(load.buffer, at + Expr(t.prefetch_distance)));
  }
  return loop::MakeBlock(std::move(stmts));
}

// Asks for a part of the columns behind those that several tiles share, from iteration `i` of
// `iterations` of a reduction: all iterations of all these tiles take as many cache lines.
Stmt PrefetchNextColumns(const TiledContraction& t, const TilePlace& place, const Expr& i,
                         int64_t iterations) {
  if (!t.shared_columns.has_value()) return {};
  const auto [elements, passes] = *t.shared_columns;
  const loop::Load& load = *FactorLoad(t.y);
  loop::Substitution at = {{t.block.get(), place.block}, {t.column.get(), Expr(0)}};
  for (const Axis& axis : t.c.reduce) at[axis.var.get()] = Expr(0);
  const int64_t line = LineElements(load.buffer->dtype);
  const int64_t lines = DivideUp(DivideUp(elements, line), passes * iterations);
  const Expr first = loop::Substitute(FlatIndex(load.buffer, load.index, {}), at) + Expr(elements) +
                     (place.pass * Expr(iterations) + i) * Expr(lines * line);
  std::vector<Stmt> stmts;
  for (int64_t l = 0; l < lines; ++l) {
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
  int64_t steps = 1;
  const int64_t extent = t.c.reduce.back().extent;
  for (int64_t s = 2; s <= std::min(t.max_unrolled / accumulators, kMaxSteps); ++s) {
    if (extent % s == 0) steps = s;
  }
  std::vector<Axis> outer = t.c.reduce;
  Stmt body = step;
  if (steps > 1) {
    const Var var = outer.back().var, within = loop::MakeVar("step");
    outer.back() = {loop::MakeVar(NameOf(var)), extent / steps};
    const Stmt at = loop::Substitute(step, {{var.get(), outer.back().var * Expr(steps) + within}});
    body = Nest({{within, steps}}, ForKind::kUnrolled, at);
  }
  Expr iteration = 0;
  for (const Axis& axis : outer) iteration = iteration * Expr(axis.extent) + axis.var;
  const int64_t iterations = TotalExtent(outer);
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

Expr FirstLane(const Expr& index) {
  if (const auto* ramp = index.As<loop::Ramp>()) return ramp->base;
  const auto* broadcast = index.As<loop::Broadcast>();
  return broadcast == nullptr ? index : broadcast->a;
}

// All steps of a tile's reduction: of the rows and columns whose first groups are loads x and y of
// the first step.
Stmt LoopInAssembly(const TiledContraction& t, const Buffer& sums, const Expr& x, const Expr& y) {
  loop::Substitution first_step;
  for (const Axis& axis : t.c.reduce) first_step[axis.var.get()] = 0;
  const auto first = [&](const Expr& groups) {
    const auto* load = groups.As<loop::Load>();
    std::vector<Expr> index;
    for (const Expr& i : load->index) index.push_back(FirstLane(i));
    return loop::Argument{load->buffer,
                          loop::Substitute(FlatIndex(load->buffer, index, {}), first_step)};
  };
  loop::DotKind kind = t.dot->kind();
  kind.steps = static_cast<int>(t.dot->steps);
  kind.run = t.dot->loop->run;
  return loop::MakeDotTile(kind, t.dot->loop->rows, t.dot->loop->columns, {sums, 0}, first(x),
                           first(y));
}

// The sum after a step of the reduction.
Expr AddProduct(const TiledContraction& t, const Expr& sum, const Expr& x, const Expr& y) {
  if (t.dot.has_value()) return AddDot(*t.dot, sum, x, y);
  return t.fused_multiply_add ? loop::MakeFma(x, y, sum) : sum + x * y;
}

}  // namespace

Stmt PackColumns(TiledContraction& t, Context& context) {
  const loop::Load* load = FactorLoad(t.c.y);
  std::vector<Axis> order = t.c.batch;
  order.insert(order.end(), t.c.reduce.begin(), t.c.reduce.end());
  order.push_back(t.c.column);
  loop::Bounds bounds;
  AddBounds(order, bounds);
  loop::LinearForm form;
  loop::AsLinear(FlatIndex(load->buffer, load->index, bounds), VarsOfAxes(order), &form);
  const bool constant = FindConstant(context, load->buffer) != nullptr;
  if (!constant && form.coefficients.back() == 1) {
    t.y = t.c.y;
    return {};
  }
  t.packed = true;
  t.block = loop::MakeVar("block");
  t.column = loop::MakeVar("column");
  int64_t base = 0;
  const bool packs_now = constant && loop::AsInt(form.base, &base);
  const int64_t width =
      packs_now && PacksByVector(t, context.target) ? t.tile.lanes : t.tile.columns();
  t.packed_columns = width;
  const int64_t blocks = DivideUp(t.c.column.extent, width);
  const int64_t stride = form.coefficients.back();
  std::vector<ColumnAxis> axes;
  const auto add = [&](size_t i) {
    if (form.coefficients[i] == 0) return;
    axes.push_back({order[i].var, {order[i].extent, form.coefficients[i]}});
  };
  for (size_t i = 0; i < t.c.batch.size(); ++i) add(i);
  const size_t block_position = axes.size();
  axes.push_back({t.block, {blocks, stride * width}});
  for (size_t i = t.c.batch.size(); i + 1 < order.size(); ++i) add(i);
  if (width != t.tile.columns() && axes.size() == block_position + 2) {
    PackedAxis& steps = axes.back().packed;
    steps.zeros = ZerosBetween(t.tile.vectors, steps.extent, width * load->buffer->dtype.bytes());
  }
  axes.push_back({t.column, {width, stride}});

  std::vector<Expr> index;
  for (const ColumnAxis& a : axes) index.push_back(a.var);
  if (width != t.tile.columns()) {
    index[block_position] = t.block * Expr(t.tile.vectors) + t.column / Expr(width);
    index.back() = t.column % Expr(width);
  }
  if (packs_now) {
    std::vector<PackedAxis> packed;
    for (const ColumnAxis& a : axes) packed.push_back(a.packed);
    const Buffer copy =
        PackConstant(load->buffer, base, packed, context, block_position, t.c.column.extent);
    t.y = WithLoad(t.c.y, loop::MakeLoad(copy, index));
    return {};
  }
  const Stage copy = CopyStage(t, *load, axes);
  context.workspace.push_back(copy.buffer);
  t.y = WithLoad(t.c.y, loop::MakeLoad(copy.buffer, index));
  return PointwiseNest(copy, context);
}

void SetReduction(TiledContraction& t, const Target& target) {
  t.fused_multiply_add = t.init.type().dtype.is_float() && target.has_fma;
  const bool scalar_dots = t.dot.has_value() && t.dot->row != nullptr && t.tile.lanes == 1;
  t.max_unrolled = !target.short_of_memory ? kMaxUnrolled : scalar_dots ? kScalarDotsUnrolled : 1;
  const int64_t bytes = t.c.y.type().dtype.bytes();
  const int64_t block_bytes = t.tile.columns() * TotalExtent(t.c.reduce) * bytes;
  const bool ahead =
      t.packed && !t.dot.has_value() && target.has_caches && block_bytes > target.l1_bytes / 2;
  t.prefetch_distance = ahead ? kPrefetchBytes / bytes : 0;
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
  const int64_t vectors = one_loop != nullptr ? t.tile.vectors : DivideUp(place.columns, sum_lanes);
  const int64_t row_stride = vectors * sum_lanes;
  // A vector of sums has the lanes of one row behind those of the other.
  const int64_t vector_rows = t.dot.has_value() ? t.dot->vector_rows : 1;
  const int64_t together = t.dot.has_value() ? t.dot->panel_rows() : 1;
  const int64_t rows = place.outer_rows * AlignUp(place.rows, together);
  const Buffer acc =
      loop::MakeBuffer("acc", t.init.type().dtype, {rows * row_stride}, loop::BufferScope::kLocal);
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
  const auto each = [&](int64_t count, int64_t lanes,
                        const std::function<Stmt(const Point&)>& body) {
    const Var outer = loop::MakeVar("outer"), m = loop::MakeVar("m");
    const int64_t whole = count / lanes;
    std::vector<Stmt> parts;
    if (whole > 0) {
      const Var v = loop::MakeVar("v"), lane = loop::MakeVar("lane");
      parts.push_back(Nest(
          {{v, whole}}, ForKind::kUnrolled,
          Nest({{lane, lanes}}, ForKind::kVectorized, body({outer, m, v * Expr(lanes) + lane}))));
    }
    if (const int64_t rest = count - whole * lanes; rest > 0) {
      const Var lane = loop::MakeVar("lane");
      parts.push_back(
          Nest({{lane, rest}}, ForKind::kVectorized, body({outer, m, Expr(whole * lanes) + lane})));
    }
    return Nest({{outer, place.outer_rows}, {m, place.rows}}, ForKind::kUnrolled,
                loop::MakeBlock(std::move(parts)));
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
    return Nest({{outer, place.outer_rows}, {m, place.rows}}, ForKind::kUnrolled,
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
  body.push_back(each(computed, sum_lanes, [&](const Point& p) {
    return loop::MakeStore(acc, {sum_at(p)}, at(t.init, p));
  }));
  for (const loop::Load* load : EpilogueLoads(t)) body.push_back(ask_for(*load));
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
  body.push_back(one_loop != nullptr
                     ? LoopInAssembly(t, acc, at(t.x, {0, 0, 0}), at(t.y, {0, 0, 0}))
                     : Reduction(t, place, loop::MakeBlock({update, PrefetchColumns(t, place)}),
                                 rows / vector_rows * DivideUp(computed, sum_lanes)));
  const bool widens = t.epilogue_lanes > 0 && place.columns % t.epilogue_lanes == 0;
  const int64_t wide = widens ? t.epilogue_lanes : sum_lanes;
  // Sums that become vectors lie in memory of their own, so that they are scalars until then.
  Buffer sums = acc;
  if (widens) {
    sums = loop::MakeBuffer("sums", acc->dtype, acc->shape, loop::BufferScope::kLocal);
    body.push_back(each(place.columns, sum_lanes, [&](const Point& p) {
      return loop::MakeStore(sums, {in_row(p)}, loop::MakeLoad(acc, {sum_at(p)}));
    }));
  }
  for (const Epilogue& epilogue : t.epilogues) {
    body.push_back(each(place.columns, wide, [&](const Point& p) {
      const Expr value = ReplaceLoads(epilogue.value, t.sums, [&](const std::vector<Expr>&) {
        return loop::MakeLoad(sums, {widens ? in_row(p) : sum_at(p)});
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
