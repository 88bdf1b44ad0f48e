// SPDX-License-Identifier: Apache-2.0
// Prepares the columns of a contraction for its tiles: a packed constant, a copy that is made at
// run time, or the buffer itself.
#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {
namespace {

std::string NameOf(const Var& var) { return var.As<loop::VarNode>()->name; }

// An axis of the packed column factor.
struct ColumnAxis {
  Var var;
  PackedAxis packed;
};

// Returns a stage that copies the column factor into `axes`. Columns after the last one are zero.
Stage CopyStage(const TiledContraction& t, const loop::Load& load,
                const std::vector<ColumnAxis>& axes) {
  Stage copy;
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
  const Expr column = fresh[t.block.get()] * Expr(t.plan.tile.columns()) + fresh[t.column.get()];
  const bool whole = columns % t.plan.tile.columns() == 0;
  fresh[t.c.column.var.get()] = whole ? column : loop::Min(column, Expr(columns - 1));
  const Expr value = loop::Substitute(loop::MakeLoad(load.buffer, load.index), fresh);
  copy.value =
      whole ? value : loop::MakeSelect(column < Expr(columns), value, loop::Const(value.type(), 0));
  copy.buffer = loop::MakeBuffer(absl::StrCat(load.buffer->name, "_packed"), load.buffer->dtype,
                                 shape, loop::BufferScope::kWorkspace);
  return copy;
}

}  // namespace

Stmt PackColumns(TiledContraction& t, Context& context) {
  if (!t.plan.packs()) {
    t.y = t.c.y;
    return {};
  }
  const loop::Load* load = FactorLoad(t.c.y);
  const std::vector<Axis> order = ColumnAxes(t.c);
  const loop::LinearForm form = *FactorForm(t.c.y, order);
  t.block = loop::MakeVar("block");
  t.column = loop::MakeVar("column");
  const bool packs_now = t.plan.columns == ContractionPlan::Columns::kPacked;
  const int64_t columns = t.plan.tile.columns();
  const int64_t width = packs_now ? t.plan.columns_together : columns;
  const int64_t blocks = DivideUp(t.c.column.extent, columns) * (columns / width);
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
  axes.push_back({t.column, {width, stride}});

  std::vector<Expr> index;
  for (const ColumnAxis& a : axes) index.push_back(a.var);
  if (width < columns) {
    const Expr vectors = columns / width, lanes = width;
    index[block_position] = t.block * vectors + t.column / lanes;
    index.back() = t.column % lanes;
  }
  if (packs_now) {
    int64_t base = 0;
    loop::AsInt(form.base, &base);
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

}  // namespace kiln::schedule
