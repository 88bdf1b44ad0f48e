// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/shared_loops.h"

#include <algorithm>

#include "compiler/schedule/families.h"

namespace kiln::schedule {
namespace {

// Buffers of the kernel, and their replacements inside of the shared loops.
using Renamed = std::vector<std::pair<Buffer, Buffer>>;

bool IsInternal(const loop::Kernel& kernel, const Buffer& buffer) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(),
                     [&](const Stage& stage) { return stage.buffer == buffer; });
}

Buffer SmallOf(const Buffer& buffer, Shape shape, loop::BufferScope scope) {
  return loop::MakeBuffer(buffer->name, buffer->dtype, std::move(shape), scope);
}

// True if the index walks the axis. The index of an axis of extent 1 may be the constant 0.
bool Walks(const Expr& index, const Axis& axis) {
  return index.get() == axis.var.get() || (axis.extent == 1 && loop::IsInt(index, 0));
}

// True if the stage, which stores at its axes, reads the buffer only at the element that it stores.
bool ReadsOwnElement(const Stage& stage, const Buffer& buffer) {
  bool own = true;
  loop::VisitExpr(stage.value, [&](const Expr& e) {
    const auto* load = e.As<loop::Load>();
    if (load == nullptr || load->buffer != buffer) return;
    own &= std::equal(load->index.begin(), load->index.end(), stage.axes.begin(), stage.axes.end(),
                      Walks);
  });
  return own;
}

// Returns the small buffer that stages[which] of the kernel may write over; null if there is none.
Buffer WrittenOver(const loop::Kernel& kernel, size_t which, const Renamed& renamed) {
  const Stage& stage = kernel.stages[which];
  if (stage.combine != loop::Combine::kNone || !IsIdentity(stage)) return nullptr;
  for (const auto& [from, to] : renamed) {
    const Buffer& buffer = from;
    if (buffer->dtype != stage.buffer->dtype || buffer->shape != stage.buffer->shape ||
        !Reads(stage, buffer) || !ReadsOwnElement(stage, buffer)) {
      continue;
    }
    const bool last =
        std::none_of(kernel.stages.begin() + static_cast<std::ptrdiff_t>(which) + 1,
                     kernel.stages.end(), [&](const Stage& later) { return Reads(later, buffer); });
    if (last) return to;
  }
  return nullptr;
}

}  // namespace

size_t SharedAxes(const loop::Kernel& kernel) {
  const Stage& last = kernel.stages.back();
  size_t shared = last.axes.size();
  for (const Stage& stage : kernel.stages) {
    const bool stores_by_axes = !IsOutput(kernel, stage.buffer);
    shared = std::min(shared, stage.axes.size());
    if (stores_by_axes) shared = std::min(shared, stage.index.size());
    for (size_t i = 0; i < shared; ++i) {
      if (stage.axes[i].extent != last.axes[i].extent ||
          (stores_by_axes && !Walks(stage.index[i], stage.axes[i]))) {
        shared = i;
      }
    }
    loop::VisitExpr(stage.value, [&](const Expr& e) {
      const auto* load = e.As<loop::Load>();
      if (load == nullptr || !IsInternal(kernel, load->buffer)) return;
      for (size_t i = 0; i < shared; ++i) {
        if (i >= load->index.size() || !Walks(load->index[i], stage.axes[i])) shared = i;
      }
    });
  }
  return shared;
}

loop::Kernel TileOfAxis(const loop::Kernel& kernel, size_t position, const Expr& begin,
                        int64_t extent) {
  loop::Kernel tile = kernel;
  Renamed renamed;
  for (Stage& stage : tile.stages) {
    const Var lane = loop::MakeVar("lane");
    const Axis old = stage.axes[position];
    for (const auto& [from, to] : renamed) {
      const Buffer local = to;
      stage.value = ReplaceLoads(stage.value, from, [&](std::vector<Expr> index) {
        index[position] = lane;
        return loop::MakeLoad(local, index);
      });
    }
    const loop::Substitution at = {{old.var.get(), begin + lane}};
    stage.value = loop::Substitute(stage.value, at);
    stage.axes[position] = {lane, extent};
    if (IsOutput(kernel, stage.buffer)) {
      for (Expr& index : stage.index) index = loop::Substitute(index, at);
      continue;
    }
    Shape shape = stage.buffer->shape;
    shape[position] = extent;
    const Buffer local = SmallOf(stage.buffer, std::move(shape), loop::BufferScope::kLocal);
    renamed.emplace_back(stage.buffer, local);
    stage.buffer = local;
    stage.index[position] = lane;
  }
  return tile;
}

Inner MakeInner(const loop::Kernel& kernel, const std::vector<Axis>& outer,
                loop::BufferScope scope) {
  Inner inner;
  Renamed renamed;
  const auto skip = static_cast<std::ptrdiff_t>(outer.size());
  for (size_t s = 0; s < kernel.stages.size(); ++s) {
    Stage stage = kernel.stages[s];
    loop::Substitution to_outer;
    for (size_t i = 0; i < outer.size(); ++i) {
      to_outer[stage.axes[i].var.get()] = outer[i].var;
    }
    for (const auto& [from, to] : renamed) {
      const Buffer small = to;
      stage.value = ReplaceLoads(stage.value, from, [&](const std::vector<Expr>& index) {
        return loop::MakeLoad(small, {index.begin() + skip, index.end()});
      });
    }
    stage.value = loop::Substitute(stage.value, to_outer);
    for (Expr& index : stage.index) index = loop::Substitute(index, to_outer);
    stage.axes.erase(stage.axes.begin(), stage.axes.begin() + skip);
    if (!IsOutput(kernel, stage.buffer)) {
      Buffer small = WrittenOver(kernel, s, renamed);
      if (small == nullptr) {
        small = SmallOf(stage.buffer,
                        {stage.buffer->shape.begin() + skip, stage.buffer->shape.end()}, scope);
        inner.buffers.push_back(small);
        inner.bytes += small->num_bytes();
      }
      renamed.emplace_back(stage.buffer, small);
      stage.buffer = small;
      stage.index.erase(stage.index.begin(), stage.index.begin() + skip);
    }
    inner.stages.push_back(std::move(stage));
  }
  return inner;
}

}  // namespace kiln::schedule
