// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/window_tiles.h"

#include <algorithm>

namespace kiln::schedule {
namespace {

// True if a stage reduces along two axes, so that its windows may overlap along both.
bool HasFlatWindows(const loop::Kernel& kernel) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(), [](const Stage& stage) {
    return std::count_if(stage.reduce.begin(), stage.reduce.end(),
                         [](const Axis& axis) { return axis.extent > 1; }) > 1;
  });
}

}  // namespace

WindowTile ChooseWindowTile(const loop::Kernel& kernel, const Target& target) {
  const std::vector<Axis>& axes = kernel.stages.back().axes;
  if (target.short_of_memory || target.vector_bits == 0 || axes.size() < 2) return {};
  const size_t place = axes.size() - 2;
  const bool inside = std::any_of(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(place),
                                  [](const Axis& axis) { return axis.extent > 1; });
  const WindowNumbers& numbers = target.machine->windows;
  const bool small =
      std::all_of(kernel.stages.begin(), kernel.stages.end(), [&](const Stage& stage) {
        const int64_t terms = TotalExtent(stage.reduce);
        return stage.combine == loop::Combine::kNone || (terms > 1 && terms <= numbers.max_terms);
      });
  if (!inside || !small || axes[place].extent == 1) return {};
  const bool many = target.vector_registers >= numbers.many_registers;
  const bool rows = many && place > 0 && HasFlatWindows(kernel) &&
                    axes[place - 1].extent / numbers.rows >= numbers.tiles_per_core * target.cores;
  // All accumulators, and the elements that they share, stay in registers.
  return {
      .rows = rows ? numbers.rows : 1, .places = numbers.places, .vectors = many && !rows ? 2 : 1};
}

Stmt TileWindows(const WindowTile& tile, const Axis& rows, const Axis& place, const Axis& count,
                 const Stmt& body) {
  std::vector<Stmt> parts;
  for (const Strip& strip : Strips(place.extent, tile.places, "tile")) {
    const Axis p = {loop::MakeVar("p"), strip.size}, row = FreshAxis(rows), own = FreshAxis(count);
    const Stmt at = loop::Substitute(body, {{place.var.get(), strip.begin + p.var},
                                            {rows.var.get(), row.var},
                                            {count.var.get(), own.var}});
    parts.push_back(
        Nest({strip.which, own}, ForKind::kSerial, Nest({p, row}, ForKind::kUnrolled, at)));
  }
  return loop::MakeBlock(std::move(parts));
}

}  // namespace kiln::schedule
