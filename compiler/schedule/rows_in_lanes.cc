// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/rows_in_lanes.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln::schedule {
namespace {

template <typename T>
std::vector<T> WithLast(std::vector<T> list, size_t position) {
  const auto at = list.begin() + static_cast<std::ptrdiff_t>(position);
  std::rotate(at, at + 1, list.end());
  return list;
}

bool IsProduct(const Stage& stage, const Target& target) {
  return AsContraction(stage, target).has_value();
}

// True if every load of the stage is from a buffer between stages, or is contiguous or constant
// along the axis.
bool ReadsAlong(const loop::Kernel& kernel, const Stage& stage, const Axis& axis) {
  loop::Bounds bounds;
  AddBounds(stage.axes, bounds);
  AddBounds(stage.reduce, bounds);
  const AccessSet set = CollectAccesses(stage.value, {axis.var}, bounds);
  return set.all_linear && std::all_of(set.linear.begin(), set.linear.end(), [&](const auto& load) {
           const bool between =
               std::any_of(kernel.stages.begin(), kernel.stages.end(),
                           [&](const Stage& other) { return other.buffer == load.buffer; });
           const int64_t stride = load.form.coefficients[0];
           return between || stride == 0 || stride == 1;
         });
}

// True if the stage can be computed with the axis at `position` in lanes.
bool FitsInLanes(const loop::Kernel& kernel, const Stage& stage, size_t position,
                 const Target& target) {
  if (!IsIdentity(stage) || IsOutput(kernel, stage.buffer) ||
      stage.buffer->dtype != DType::Float(32)) {
    return false;
  }
  const Axis& rows = stage.axes[position];
  if (!IsProduct(stage, target)) return ReadsAlong(kernel, stage, rows);
  const std::optional<Contraction> across = AsContraction(WithInnermost(stage, position), target);
  return across.has_value() && across->column.var.get() == rows.var.get();
}

// Returns the number of vectors that hold `elements`. The rest after whole vectors is divided into
// powers of two.
int64_t VectorsOf(int64_t elements, int64_t lanes) {
  return elements / lanes + std::popcount(static_cast<uint64_t>(elements % lanes));
}

// Returns the number of elements along which the stage's lanes go if they do not go across rows.
int64_t LanesAlong(const Stage& stage, const Target& target) {
  if (const std::optional<Contraction> c = AsContraction(stage, target)) return c->column.extent;
  return stage.combine == loop::Combine::kNone ? stage.axes.back().extent
                                               : stage.reduce.back().extent;
}

}  // namespace

Stage WithInnermost(const Stage& stage, size_t position) {
  if (!IsIdentity(stage)) return stage;
  Stage across = stage;
  across.axes = WithLast(across.axes, position);
  across.index = WithLast(across.index, position);
  across.buffer = loop::MakeBuffer(stage.buffer->name, stage.buffer->dtype,
                                   WithLast(stage.buffer->shape, position), stage.buffer->scope);
  return across;
}

bool PrefersRowsInLanes(const loop::Kernel& original, size_t axis, const Target& target) {
  loop::Kernel kernel = original;
  StoreApart(kernel);
  const int64_t lanes = target.Lanes(DType::Float(32));
  const int64_t rows = kernel.stages.back().axes[axis].extent;
  if (lanes == 1 || rows < lanes) return false;
  double along = 0, across = 0;
  for (size_t i = 0; i + 1 < kernel.stages.size(); ++i) {
    const Stage& stage = kernel.stages[i];
    if (!FitsInLanes(kernel, stage, axis, target)) return false;
    const auto cost = static_cast<double>(Cost(stage, target));
    const int64_t elements = LanesAlong(stage, target);
    along += cost * static_cast<double>(VectorsOf(elements, lanes)) / static_cast<double>(elements);
    across += cost * static_cast<double>(DivideUp(rows, lanes)) / static_cast<double>(rows);
  }
  return across < target.machine->stack.worthwhile_lanes * along;
}

void StoreApart(loop::Kernel& kernel) {
  Stage& last = kernel.stages.back();
  if (last.combine == loop::Combine::kNone) return;
  Stage copy;
  copy.buffer = last.buffer;
  copy.axes = FreshAxes(last.axes);
  Shape shape;
  std::vector<Expr> stored, loaded;
  loop::Substitution fresh;
  for (size_t i = 0; i < last.axes.size(); ++i) {
    shape.push_back(last.axes[i].extent);
    stored.emplace_back(last.axes[i].var);
    loaded.emplace_back(copy.axes[i].var);
    fresh[last.axes[i].var.get()] = copy.axes[i].var;
  }
  for (const Expr& index : last.index) copy.index.push_back(loop::Substitute(index, fresh));
  last.buffer = loop::MakeBuffer(absl::StrCat(last.buffer->name, "_sums"), last.buffer->dtype,
                                 std::move(shape), loop::BufferScope::kLocal);
  last.index = std::move(stored);
  copy.value = loop::MakeLoad(last.buffer, loaded);
  kernel.stages.push_back(std::move(copy));
}

void MoveRowsInnermost(Inner& inner) {
  const std::vector<Buffer> before = inner.buffers;
  for (Buffer& buffer : inner.buffers) {
    buffer =
        loop::MakeBuffer(buffer->name, buffer->dtype, WithLast(buffer->shape, 0), buffer->scope);
  }
  for (Stage& stage : inner.stages) {
    for (size_t i = 0; i < before.size(); ++i) {
      const Buffer after = inner.buffers[i];
      stage.value = ReplaceLoads(stage.value, before[i], [&](const std::vector<Expr>& index) {
        return loop::MakeLoad(after, WithLast(index, 0));
      });
      if (stage.buffer != before[i]) continue;
      stage.buffer = after;
      stage.axes = WithLast(std::move(stage.axes), 0);
      stage.index = WithLast(std::move(stage.index), 0);
    }
  }
}

}  // namespace kiln::schedule
