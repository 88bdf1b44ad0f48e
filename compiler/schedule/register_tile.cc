// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/register_tile.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace kiln::schedule {
namespace {

constexpr int64_t kMaxVectors = 8;  // per row, when there are few rows
constexpr int64_t kScratchRegisters =
    2;  // beside accumulators and column vectors: a broadcast, a temporary
constexpr int64_t kScalarTile = 4;  // accumulators on a machine without vectors

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

const loop::Load* LoadUnderCasts(Expr e) {
  while (const auto* cast = e.As<loop::Cast>()) e = cast->a;
  return e.As<loop::Load>();
}

// `factor` with `load` in the place of its load.
Expr WithLoad(const Expr& factor, const Expr& load) {
  const auto* cast = factor.As<loop::Cast>();
  return cast == nullptr ? load : loop::MakeCast(factor.type(), WithLoad(cast->a, load));
}

bool IsConstant(const Context& context, const Buffer& buffer) {
  return std::any_of(context.constants.begin(), context.constants.end(),
                     [&](const loop::Constant& c) { return c.buffer == buffer; });
}

std::string NameOf(const Var& var) { return var.As<loop::VarNode>()->name; }

// An axis of the packed column factor.
struct ColumnAxis {
  Axis axis;
  int64_t stride;  // in the original
};

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
    const Var var = loop::MakeVar(NameOf(a.axis.var));
    copy.axes.push_back({var, a.axis.extent});
    copy.index.push_back(var);
    shape.push_back(a.axis.extent);
    fresh[a.axis.var.get()] = var;
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

}  // namespace

TileShape ChooseTile(int64_t rows, int64_t columns, DType dtype, const Target& target) {
  const int64_t lanes = target.Lanes(dtype);
  if (lanes == 1) {
    const int64_t tile_rows = std::min<int64_t>(rows, 2);
    return {tile_rows, std::min<int64_t>(columns, kScalarTile / tile_rows), 1};
  }
  int64_t width = lanes;
  while (width / 2 >= columns) width /= 2;
  const int64_t max_vectors = DivideUp(columns, width);
  const int64_t registers = target.vector_registers - kScratchRegisters;
  const auto max_rows = [&](int64_t v) { return std::max<int64_t>((registers - v) / v, 1); };
  int64_t vectors = std::min<int64_t>(max_vectors, 2);
  while (vectors < std::min(max_vectors, kMaxVectors) && max_rows(vectors + 1) >= rows) ++vectors;
  const int64_t tiles = DivideUp(rows, max_rows(vectors));
  return {DivideUp(rows, tiles), vectors, width};
}

Stmt PackColumns(TiledContraction& t, Context& context) {
  const loop::Load* load = LoadUnderCasts(t.c.y);
  std::vector<Axis> order = t.c.batch;
  order.insert(order.end(), t.c.reduce.begin(), t.c.reduce.end());
  order.push_back(t.c.column);
  loop::Bounds bounds;
  AddBounds(order, bounds);
  loop::LinearForm form;
  loop::AsLinear(FlatIndex(load->buffer, load->index, bounds), VarsOfAxes(order), &form);
  const bool constant = IsConstant(context, load->buffer);
  if (!constant && form.coefficients.back() == 1) {
    t.y = t.c.y;
    return {};
  }
  t.packed = true;
  t.block = loop::MakeVar("block");
  t.column = loop::MakeVar("column");
  const int64_t blocks = DivideUp(t.c.column.extent, t.tile.columns());
  const int64_t stride = form.coefficients.back();
  std::vector<ColumnAxis> axes;
  for (size_t i = 0; i < t.c.batch.size(); ++i) {
    if (form.coefficients[i] != 0) axes.push_back({order[i], form.coefficients[i]});
  }
  const size_t block_position = axes.size();
  axes.push_back({{t.block, blocks}, stride * t.tile.columns()});
  for (size_t i = t.c.batch.size(); i + 1 < order.size(); ++i) {
    if (form.coefficients[i] != 0) axes.push_back({order[i], form.coefficients[i]});
  }
  axes.push_back({{t.column, t.tile.columns()}, stride});

  std::vector<Expr> index;
  for (const ColumnAxis& a : axes) index.push_back(a.axis.var);
  int64_t base = 0;
  if (constant && loop::AsInt(form.base, &base)) {
    std::vector<PackedAxis> packed;
    for (const ColumnAxis& a : axes) packed.push_back({a.axis.extent, a.stride});
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

Stmt EmitTile(const TiledContraction& t, const Expr& row0, int64_t rows, const Expr& block,
              int64_t columns) {
  const int64_t lanes = t.tile.lanes;
  const int64_t vectors = DivideUp(columns, lanes);
  const int64_t row_stride = vectors * lanes;
  const Buffer acc =
      loop::MakeBuffer("acc", t.init.type().dtype, {rows * row_stride}, loop::BufferScope::kLocal);
  const auto sum_at = [&](const Expr& m, const Expr& n) { return m * Expr(row_stride) + n; };
  // An expression in the contraction's axes at row m and column n of this tile.
  const auto at = [&](const Expr& e, const Expr& m, const Expr& n) {
    loop::Substitution s = {{t.c.column.var.get(), block * Expr(t.tile.columns()) + n}};
    if (!t.c.rows.empty()) s[t.c.rows.back().var.get()] = row0 + m;
    if (t.packed) {
      s[t.block.get()] = block;
      s[t.column.get()] = n;
    }
    return loop::Substitute(e, s);
  };
  // body(m, n) for all rows and for `count` columns, as straight-line vector code.
  const auto each = [&](int64_t count, const std::function<Stmt(const Expr&, const Expr&)>& body) {
    const Var m = loop::MakeVar("m");
    const int64_t whole = count / lanes;
    std::vector<Stmt> parts;
    if (whole > 0) {
      const Var v = loop::MakeVar("v"), lane = loop::MakeVar("lane");
      parts.push_back(
          Nest({{v, whole}}, ForKind::kUnrolled,
               Nest({{lane, lanes}}, ForKind::kVectorized, body(m, v * Expr(lanes) + lane))));
    }
    if (const int64_t rest = count - whole * lanes; rest > 0) {
      const Var lane = loop::MakeVar("lane");
      parts.push_back(
          Nest({{lane, rest}}, ForKind::kVectorized, body(m, Expr(whole * lanes) + lane)));
    }
    return Nest({{m, rows}}, ForKind::kUnrolled, loop::MakeBlock(std::move(parts)));
  };

  // Packed columns are padded with zeros to whole vectors; others may only be read where they
  // exist.
  const int64_t computed = t.packed ? row_stride : columns;
  std::vector<Stmt> body = {each(computed, [&](const Expr& m, const Expr& n) {
    return loop::MakeStore(acc, {sum_at(m, n)}, t.init);
  })};
  const Stmt update = each(computed, [&](const Expr& m, const Expr& n) {
    const Expr sum = loop::MakeLoad(acc, {sum_at(m, n)});
    const Expr x = at(t.c.x, m, n);
    const Expr y = at(t.y, m, n);
    return loop::MakeStore(acc, {sum_at(m, n)},
                           t.fused_multiply_add ? loop::MakeFma(x, y, sum) : sum + x * y);
  });
  body.push_back(Nest(t.c.reduce, ForKind::kSerial, update));
  for (const Epilogue& epilogue : t.epilogues) {
    body.push_back(each(columns, [&](const Expr& m, const Expr& n) {
      const Expr value = ReplaceLoads(epilogue.value, t.sums, [&](const std::vector<Expr>&) {
        return loop::MakeLoad(acc, {sum_at(m, n)});
      });
      std::vector<Expr> index;
      for (const Expr& i : epilogue.index) index.push_back(at(i, m, n));
      return loop::MakeStore(epilogue.buffer, index, at(value, m, n));
    }));
  }
  return loop::MakeAllocate(acc, loop::MakeBlock(std::move(body)));
}

}  // namespace kiln::schedule
