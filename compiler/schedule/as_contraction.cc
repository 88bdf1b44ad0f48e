// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/schedule/families.h"

namespace kiln::schedule {
namespace {

// Sets `form` to the factor's flat index as a linear form in `vars`. Returns false if the index is
// not linear.
bool ReadFactorForm(const Expr& factor, const std::vector<Var>& vars, const loop::Bounds& bounds,
                    loop::LinearForm* form) {
  const loop::Load* load = FactorLoad(factor);
  return load != nullptr &&
         loop::AsLinear(FlatIndex(load->buffer, load->index, bounds), vars, form);
}

}  // namespace

int64_t RowExtent(const Contraction& c, size_t from_last) {
  return c.rows.size() > from_last ? c.rows[c.rows.size() - 1 - from_last].extent : 1;
}

int64_t ColumnBytes(const Contraction& c) {
  return c.column.extent * TotalExtent(c.reduce) * c.y.type().dtype.bytes();
}

std::vector<Axis> ColumnAxes(const Contraction& c) {
  std::vector<Axis> axes = c.batch;
  axes.insert(axes.end(), c.reduce.begin(), c.reduce.end());
  axes.push_back(c.column);
  return axes;
}

const loop::Load* FactorLoad(Expr e) {
  while (const auto* cast = e.As<loop::Cast>()) e = cast->a;
  return e.As<loop::Load>();
}

Expr WithLoad(const Expr& factor, const Expr& load) {
  const auto* cast = factor.As<loop::Cast>();
  return cast == nullptr ? load : loop::MakeCast(factor.type(), WithLoad(cast->a, load));
}

std::optional<loop::LinearForm> FactorForm(const Expr& factor, const std::vector<Axis>& axes) {
  loop::Bounds bounds;
  AddBounds(axes, bounds);
  loop::LinearForm form;
  if (!ReadFactorForm(factor, VarsOfAxes(axes), bounds, &form)) return std::nullopt;
  return form;
}

std::optional<Contraction> AsContraction(const Stage& stage, const Expr& store,
                                         const Target& target) {
  const auto* product = stage.value.As<loop::Binary>();
  if (stage.combine != loop::Combine::kSum || stage.reduce.empty() || stage.axes.empty() ||
      product == nullptr || product->op != loop::BinaryOp::kMul) {
    return std::nullopt;
  }
  std::vector<Axis> all = stage.axes;
  all.insert(all.end(), stage.reduce.begin(), stage.reduce.end());
  loop::Bounds bounds;
  AddBounds(all, bounds);
  const std::vector<Var> vars = VarsOfAxes(all);
  loop::LinearForm x_form, y_form, store_form;
  if (!ReadFactorForm(product->a, vars, bounds, &x_form) ||
      !ReadFactorForm(product->b, vars, bounds, &y_form) ||
      !loop::AsLinear(loop::Simplify(store, bounds), vars, &store_form)) {
    return std::nullopt;
  }
  // The column is the axis along which the output is contiguous.
  size_t column = stage.axes.size();
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    if (stage.axes[i].extent > 1 && store_form.coefficients[i] == 1) column = i;
  }
  if (column == stage.axes.size()) return std::nullopt;
  Contraction c{
      .x = product->a, .y = product->b, .column = stage.axes[column], .reduce = stage.reduce};
  if (x_form.coefficients[column] != 0) {
    std::swap(c.x, c.y);
    std::swap(x_form, y_form);
  }
  const int lanes = target.Lanes(stage.value.type().dtype);
  if (x_form.coefficients[column] != 0 || y_form.coefficients[column] == 0 ||
      c.column.extent < std::min<int64_t>(target.machine->tiles.min_columns, lanes)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    if (i == column || stage.axes[i].extent == 1) continue;
    const bool in_x = x_form.coefficients[i] != 0;
    const bool in_y = y_form.coefficients[i] != 0;
    (in_x && !in_y ? c.rows : c.batch).push_back(stage.axes[i]);
  }
  // Columns that are not contiguous would be copied. If few rows share the copy, vectors along the
  // reduction axis are faster, so the reduction family takes the stage.
  const bool copies = stage.value.type().dtype.is_float() && lanes > 1 &&
                      y_form.coefficients[column] != 1 && y_form.coefficients.back() == 1 &&
                      FactorLoad(c.y)->buffer->scope != loop::BufferScope::kConstant;
  const TileNumbers& tiles = target.machine->tiles;
  const int64_t rows = TotalExtent(c.rows);
  const bool are_few = rows < tiles.min_rows_of_copy && x_form.coefficients.back() == 1 &&
                       rows * tiles.min_steps_per_row <= c.reduce.back().extent;
  if (copies && (c.rows.empty() || are_few)) return std::nullopt;
  return c;
}

std::optional<Contraction> AsContraction(const Stage& stage, const Target& target) {
  loop::Bounds bounds;
  AddBounds(stage.axes, bounds);
  return AsContraction(stage, FlatIndex(stage.buffer, stage.index, bounds), target);
}

}  // namespace kiln::schedule
