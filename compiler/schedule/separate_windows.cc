// SPDX-License-Identifier: Apache-2.0
// Reduces windows one axis at a time. The largest value of a 9x9 window is the largest of nine
// values, the maxima of its rows: 9 + 9 comparisons instead of 81. Values are compared in the order
// of the whole window, so that the first of equal values stays the first.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/families.h"

namespace kiln::schedule {
namespace {

// True if parts of a window may be combined separately. Sums of floats keep their order.
bool CombinesInParts(const Stage& stage) {
  using loop::Combine;
  const bool exact = stage.value.type().dtype.is_integral();
  return stage.combine == Combine::kMax || stage.combine == Combine::kMin ||
         stage.combine == Combine::kMaxOfNumbers ||
         (exact && (stage.combine == Combine::kSum || stage.combine == Combine::kProd));
}

// Returns `value` as a function of `place`, which is the sum of space and tap. Returns nothing if
// it depends on these in another way.
std::optional<Expr> Joined(const Expr& value, const Axis& space, const Axis& tap, const Axis& place,
                           loop::Bounds bounds) {
  AddBounds({tap, place}, bounds);
  const Expr joined =
      loop::Simplify(loop::Substitute(value, {{space.var.get(), place.var - tap.var}}), bounds);
  const auto vars = loop::VarsOf(joined);
  if (vars.contains(tap.var.get()) || !vars.contains(place.var.get())) return std::nullopt;
  return joined;
}

// A stage as two stages. `rows` reduces the last axis of each window at every place that windows
// read. `windows` reduces its results along the other axes.
struct Separated {
  Stage rows, windows;
};

std::optional<Separated> Separate(const Stage& stage) {
  if (!CombinesInParts(stage) || stage.reduce.size() < 2) return std::nullopt;
  Separated result{stage, stage};
  Stage& rows = result.rows;
  result.windows.reduce.pop_back();
  std::vector<Expr> read = {};
  for (const Axis& axis : stage.axes) read.push_back(axis.var);
  for (const Axis& tap : result.windows.reduce) {
    bool joined = false;
    for (size_t i = 0; i < rows.axes.size() && !joined; ++i) {
      const Axis space = rows.axes[i];
      const Axis place = {loop::MakeVar("place"), space.extent + tap.extent - 1};
      loop::Bounds bounds;
      AddBounds(rows.axes, bounds);
      AddBounds(stage.reduce, bounds);
      const std::optional<Expr> value = Joined(rows.value, space, tap, place, bounds);
      if (!value.has_value()) continue;
      joined = true;
      rows.value = *value;
      rows.axes[i] = place;
      read[i] = read[i] + tap.var;
    }
    if (!joined) return std::nullopt;
  }
  rows.reduce = {stage.reduce.back()};

  Shape shape;
  rows.index.clear();
  loop::Substitution fresh;
  for (Axis& axis : rows.axes) {
    const Var var = loop::MakeVar(axis.var.As<loop::VarNode>()->name);
    fresh[axis.var.get()] = var;
    axis.var = var;
    shape.push_back(axis.extent);
    rows.index.push_back(var);
  }
  rows.value = loop::Substitute(rows.value, fresh);
  rows.buffer = loop::MakeBuffer(absl::StrCat(stage.buffer->name, "_rows"),
                                 stage.value.type().dtype, shape, loop::BufferScope::kWorkspace);
  result.windows.value = loop::MakeLoad(rows.buffer, read);
  return result;
}

bool IsWorthIt(const Stage& stage, const Separated& parts, const Target& target) {
  const auto terms = [](const Stage& s) { return TotalExtent(s.axes) * TotalExtent(s.reduce); };
  const int64_t apart = terms(parts.rows) +
                        TotalExtent(parts.rows.axes) * target.machine->windows.row_cost +
                        terms(parts.windows);
  return 3 * apart <= 2 * terms(stage);
}

// Moves the axis along which windows overlap next to the innermost one, so that neighboring windows
// share the values that they load.
void MoveWindowsInside(const Separated& parts, const Stage& stage, Stage& windows) {
  for (size_t i = 0; i + 2 < windows.axes.size(); ++i) {
    if (parts.rows.axes[i].extent == stage.axes[i].extent) continue;
    const auto axis = windows.axes.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(axis, axis + 1, windows.axes.end() - 1);
    return;
  }
}

}  // namespace

std::optional<Stmt> WindowsByAxis(const loop::Kernel& kernel, Context& context) {
  // The values of rows take memory.
  if (context.target.short_of_memory) return std::nullopt;
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    const Stage& stage = kernel.stages[i];
    const std::optional<Separated> parts = Separate(stage);
    if (!parts.has_value() || !IsWorthIt(stage, *parts, context.target)) continue;
    std::vector<Stmt> nests;
    for (size_t k = 0; k < i; ++k) nests.push_back(StageNest(kernel, kernel.stages[k], context));
    context.workspace.push_back(parts->rows.buffer);
    loop::Kernel rows = kernel, windows = kernel;
    rows.outputs = {parts->rows.buffer};
    rows.stages = {parts->rows};
    windows.stages.erase(windows.stages.begin(),
                         windows.stages.begin() + static_cast<std::ptrdiff_t>(i));
    windows.stages[0] = parts->windows;
    if (windows.stages.size() == 1) MoveWindowsInside(*parts, stage, windows.stages[0]);
    nests.push_back(ReductionNest(rows, context));
    const std::optional<Stmt> rest = WindowsByAxis(windows, context);
    nests.push_back(rest.has_value() ? *rest : ReductionNest(windows, context));
    context.description = "reduction by axes";
    return loop::MakeBlock(std::move(nests));
  }
  return std::nullopt;
}

}  // namespace kiln::schedule
