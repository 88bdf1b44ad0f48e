// SPDX-License-Identifier: Apache-2.0
// Padding that would interleave a few planes, as before the first layer of a model whose data are
// channels-first. A product that takes single elements of its rows can read lines of planes as
// well, and lines are copied in whole vectors.
#include <utility>

#include "compiler/schedule/families.h"

namespace kiln::schedule {
namespace {

// True if a stage pads data of a few planes and interleaves them. The axis before the innermost one
// walks the lines of the planes.
bool InterleavesPlanes(const Stage& stage, int64_t max_planes) {
  const auto* padded = stage.value.As<loop::Select>();
  const loop::Load* load = padded == nullptr ? nullptr : padded->if_true.As<loop::Load>();
  const size_t rank = stage.axes.size();
  if (load == nullptr || stage.combine != loop::Combine::kNone || stage.update || rank < 2 ||
      !IsIdentity(stage)) {
    return false;
  }
  const Axis &channel = stage.axes[rank - 1], &column = stage.axes[rank - 2];
  const Expr& innermost = load->index.back();
  return channel.extent > 1 && channel.extent <= max_planes && column.extent > max_planes &&
         loop::Uses(innermost, column.var) && !loop::Uses(innermost, channel.var);
}

template <typename T>
void SwapLastTwo(std::vector<T>& values) {
  std::swap(values[values.size() - 1], values[values.size() - 2]);
}

}  // namespace

bool StorePlanes(loop::Kernel& kernel, size_t which, const Target& target) {
  Stage& product = kernel.stages[which];
  const bool takes_elements = product.value.type().dtype.is_float() && !target.broadcasts_lanes();
  if (!takes_elements || target.short_of_memory) return false;
  bool stores = false;
  for (size_t i = 0; i < which; ++i) {
    Stage& padding = kernel.stages[i];
    if (!InterleavesPlanes(padding, target.machine->transposes.max_planes) ||
        !IsReadByAlone(kernel, which, padding.buffer)) {
      continue;
    }
    stores = true;
    const Buffer buffer = padding.buffer;
    Shape shape = buffer->shape;
    SwapLastTwo(shape);
    padding.buffer = loop::MakeBuffer(buffer->name, buffer->dtype, shape, buffer->scope,
                                      buffer->alignment_bytes);
    SwapLastTwo(padding.axes);
    SwapLastTwo(padding.index);
    product.value = ReplaceLoads(product.value, buffer, [&](std::vector<Expr> index) {
      SwapLastTwo(index);
      return loop::MakeLoad(padding.buffer, std::move(index));
    });
  }
  return stores;
}

}  // namespace kiln::schedule
