// SPDX-License-Identifier: Apache-2.0
// Finds the window of a depthwise convolution in a stage.
#include <algorithm>
#include <utility>

#include "compiler/schedule/contraction_facts.h"
#include "compiler/schedule/dot_parts.h"
#include "compiler/schedule/value_range.h"
#include "compiler/schedule/window.h"

namespace kiln::schedule {
namespace {

using loop::Range;

// Narrows the ranges of variables to those for which a condition holds. Returns false if the
// condition is not a conjunction of bounds of single variables.
bool NarrowTo(const Expr& condition, loop::Bounds& bounds) {
  if (const auto* both = condition.As<loop::Binary>(); both != nullptr) {
    return both->op == loop::BinaryOp::kAnd && NarrowTo(both->a, bounds) &&
           NarrowTo(both->b, bounds);
  }
  int64_t value = 0;
  if (loop::AsInt(condition, &value)) return value != 0;
  const auto* compare = condition.As<loop::Compare>();
  if (compare == nullptr || !loop::AsInt(compare->b, &value)) return false;
  const auto found = bounds.find(compare->a.get());
  if (found == bounds.end()) return false;
  auto& [min, max] = found->second;
  if (compare->op == loop::CompareOp::kGe) {
    min = std::max(min, value);
  } else if (compare->op == loop::CompareOp::kLt) {
    max = std::min(max, value - 1);
  } else {
    return false;
  }
  return true;
}

// Returns the stride of index `e` along each of `vars`. Returns nothing if the index is not linear
// in them, or does not begin at 0.
std::optional<std::vector<int64_t>> StridesOf(const Expr& e, const std::vector<Var>& vars) {
  loop::LinearForm form;
  if (!loop::AsLinear(e, vars, &form) || !loop::IsInt(form.base, 0)) return std::nullopt;
  return form.coefficients;
}

// A row (or column) of the data: index[i] = sum * stride + window.
struct Line {
  size_t sum, window;  // positions of the axes
  int64_t stride;
};
std::optional<Line> LineOf(const std::vector<int64_t>& strides, size_t num_axes) {
  std::optional<Line> line;
  for (size_t w = num_axes; w < strides.size(); ++w) {
    if (strides[w] == 0) continue;
    if (strides[w] != 1 || line.has_value()) return std::nullopt;
    line = Line{num_axes, w, 0};
  }
  if (!line.has_value()) return line;
  for (size_t a = 0; a < num_axes; ++a) {
    if (strides[a] == 0) continue;
    if (strides[a] < 0 || line->sum < num_axes) return std::nullopt;
    line->sum = a;
    line->stride = strides[a];
  }
  return line->sum < num_axes ? line : std::nullopt;
}

// The factors of a stage: data and a constant.
struct Factors {
  const loop::Load* x;
  Expr y;
  DType x_dtype;
};
std::optional<Factors> FactorsOf(const Stage& stage, const Context& context) {
  const auto* product = stage.value.As<loop::Binary>();
  const bool sums_products = stage.combine == loop::Combine::kSum && product != nullptr &&
                             product->op == loop::BinaryOp::kMul &&
                             stage.value.type() == loop::Type::Of(kI32) &&
                             loop::IsInt(stage.init, 0);
  if (!sums_products) return std::nullopt;
  const loop::Load *x = FactorLoad(product->a), *y = FactorLoad(product->b);
  if (x == nullptr || y == nullptr || FindConstant(context, y->buffer) == nullptr) {
    return std::nullopt;
  }
  return Factors{x, product->b, x->buffer->dtype};
}

// Returns an instruction that has loops for windows of `taps` elements that move by `stride`; null
// if there is none.
const DotInstruction* FindInstruction(DType x, const Range& y, int64_t taps, int64_t stride,
                                      const Target& target) {
  for (const DotInstruction* row : DotInstructionsOf(target, kI32)) {
    const bool slides = std::any_of(row->loops.begin(), row->loops.end(), [&](const DotLoop& loop) {
      return loop.slide == stride && loop.columns == 1;
    });
    if (slides && row->group == taps && y.within(Range::OfType(row->b)) &&
        Range::OfType(x).within(Range::OfType(row->a))) {
      return row;
    }
  }
  return nullptr;
}

// Sets the members of `window` that describe an element of the data. `x` loads it from the padded
// data, or from an input. Returns false if the padding has another form, or the data are not an
// input.
bool FindData(const loop::Kernel& kernel, size_t which, const loop::Load& x, size_t row_dimension,
              size_t column_dimension, Window& window) {
  window.data_row = loop::MakeVar("data_row");
  window.data_column = loop::MakeVar("data_column");
  std::vector<Expr> index = x.index;
  index[row_dimension] = window.data_row;
  index[column_dimension] = window.data_column;
  const std::optional<size_t> padding = FindRowPadding(kernel, which);
  Buffer source = x.buffer;
  if (!padding.has_value() || kernel.stages[*padding].buffer != x.buffer) {
    window.rows = {0, x.buffer->shape[row_dimension] - 1};
    window.columns = {0, x.buffer->shape[column_dimension] - 1};
    window.data = loop::MakeLoad(x.buffer, std::move(index));
  } else {
    const Stage& stage = kernel.stages[*padding];
    const auto& padded = *stage.value.As<loop::Select>();
    loop::Bounds inside;
    AddBounds(stage.axes, inside);
    if (!NarrowTo(loop::Simplify(padded.condition, inside), inside)) return false;
    loop::Substitution at;
    for (size_t d = 0; d < index.size(); ++d) at[stage.axes[d].var.get()] = index[d];
    const auto range = [&](size_t dimension) {
      const loop::Interval& values = inside.at(stage.axes[dimension].var.get());
      return Range{values.min, values.max};
    };
    // Padding along another dimension cannot be described by rows and columns.
    for (size_t d = 0; d < index.size(); ++d) {
      const bool whole = range(d) == Range{0, stage.axes[d].extent - 1};
      if (d != row_dimension && d != column_dimension && !whole) return false;
    }
    window.rows = range(row_dimension);
    window.columns = range(column_dimension);
    if (!loop::AsInt(padded.if_false, &window.padding)) return false;
    window.data = loop::Substitute(loop::Simplify(padded.if_true, inside), at);
    source = padded.if_true.As<loop::Load>()->buffer;
  }
  return std::find(kernel.inputs.begin(), kernel.inputs.end(), source) != kernel.inputs.end();
}

// Packs the taps of every channel contiguously. Returns null if they depend on more than the
// channel and the position in the window.
Buffer PackTaps(const Expr& y, const Stage& stage, const Line& row, const Line& column, DType dtype,
                Context& context) {
  std::vector<Axis> all = stage.axes;
  all.insert(all.end(), stage.reduce.begin(), stage.reduce.end());
  const auto form = FactorForm(y, all);
  int64_t base = 0;
  if (!form.has_value() || !loop::AsInt(form->base, &base)) return nullptr;
  const size_t channel = stage.axes.size() - 1;
  for (size_t a = 0; a < channel; ++a) {
    if (form->coefficients[a] != 0) return nullptr;
  }
  const auto axis = [&](size_t a) { return PackedAxis{all[a].extent, form->coefficients[a]}; };
  const Buffer& source = FactorLoad(y)->buffer;
  const Buffer packed =
      PackConstant(source, base, {axis(channel), axis(row.window), axis(column.window)}, context);
  return WithElementsOf(dtype, packed, absl::StrCat(source->name, "_taps"), context);
}

}  // namespace

std::optional<Window> FindWindow(const loop::Kernel& kernel, Context& context) {
  const auto sums = [](const Stage& s) { return s.combine != loop::Combine::kNone; };
  const auto found = std::find_if(kernel.stages.begin(), kernel.stages.end(), sums);
  if (found == kernel.stages.end() || context.target.Lanes(kI32) > 1 ||
      std::count_if(kernel.stages.begin(), kernel.stages.end(), sums) != 1) {
    return std::nullopt;
  }
  const Stage& stage = *found;
  const auto factors = FactorsOf(stage, context);
  if (!factors.has_value() || stage.reduce.size() != 2 || stage.axes.size() < 3) {
    return std::nullopt;
  }
  // One dimension of the data walks rows, one columns, and the last one channels.
  const loop::Load& x = *factors->x;
  const size_t num_axes = stage.axes.size(), channel = num_axes - 1;
  std::vector<Var> vars = VarsOfAxes(stage.axes);
  for (const Axis& axis : stage.reduce) vars.push_back(axis.var);
  std::vector<std::pair<size_t, Line>> lines;
  for (size_t d = 0; d + 1 < x.index.size(); ++d) {
    const auto strides = StridesOf(x.index[d], vars);
    if (!strides.has_value() || (*strides)[channel] != 0) return std::nullopt;
    if (const auto line = LineOf(*strides, num_axes)) {
      lines.emplace_back(d, *line);
    } else if ((*strides)[num_axes] != 0 || (*strides)[num_axes + 1] != 0) {
      return std::nullopt;
    }
  }
  if (lines.size() != 2 || x.index.back().get() != stage.axes[channel].var.get()) {
    return std::nullopt;
  }
  const auto& [row_dimension, row] = lines[0];
  const auto& [column_dimension, column] = lines[1];
  if (row.window == column.window || row.sum == column.sum) return std::nullopt;

  Window window{.row = stage.axes[row.sum],
                .column = stage.axes[column.sum],
                .channel = stage.axes[channel],
                .window_rows = stage.reduce[row.window - num_axes].extent,
                .row_stride = row.stride,
                .column_stride = column.stride};
  for (size_t a = 0; a < channel; ++a) {
    if (a != row.sum && a != column.sum) window.outer.push_back(stage.axes[a]);
  }
  const Buffer& taps = FactorLoad(factors->y)->buffer;
  window.instruction =
      FindInstruction(factors->x_dtype, RangeOfElements(FindConstant(context, taps)->tensor),
                      stage.reduce[column.window - num_axes].extent, column.stride, context.target);
  if (window.instruction == nullptr ||
      !FindData(kernel, static_cast<size_t>(found - kernel.stages.begin()), x, row_dimension,
                column_dimension, window)) {
    return std::nullopt;
  }
  window.taps = PackTaps(factors->y, stage, row, column, window.instruction->b, context);
  return window.taps == nullptr ? std::nullopt : std::optional<Window>(std::move(window));
}

}  // namespace kiln::schedule
