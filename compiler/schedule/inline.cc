// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/loop/expr_node.h"
#include "compiler/schedule/families.h"

namespace kiln::schedule {
namespace {

int CountLoads(const Stage& stage, const Buffer& buffer) {
  int loads = 0;
  loop::VisitExpr(stage.value, [&](const Expr& e) {
    const auto* load = e.As<loop::Load>();
    loads += load != nullptr && load->buffer == buffer ? 1 : 0;
  });
  return loads;
}

// True if inlining leaves the factors of a contraction plain loads at linear indices, because it
// reads them many times. Also true if the consumer is not a contraction.
bool KeepsFactorsPlain(const Stage& consumer, const Stage& producer, const Target& target) {
  if (!AsContraction(consumer, target).has_value()) return true;
  Expr value = producer.value;
  while (const auto* cast = value.As<loop::Cast>()) value = cast->a;
  if (value.As<loop::Load>() == nullptr) return false;
  std::vector<Axis> axes = consumer.axes;
  axes.insert(axes.end(), consumer.reduce.begin(), consumer.reduce.end());
  loop::Bounds bounds;
  AddBounds(axes, bounds);
  return CollectAccesses(InlineInto(consumer.value, producer), VarsOfAxes(axes), bounds).all_linear;
}

// Returns the cost of computing one element at a consumer's read. PartitionLoops separates padding
// with a number from the data, so that only the load of the data counts. This requires that the
// innermost axis of the data is walked in order.
int64_t CostWhereRead(const Stage& producer, const Target& target) {
  const auto* padded = producer.value.As<loop::Select>();
  const bool is_padded = padded != nullptr && loop::IsConstant(padded->if_false);
  const auto* data = is_padded ? padded->if_true.As<loop::Load>() : nullptr;
  loop::Bounds bounds;
  AddBounds(producer.axes, bounds);
  const bool in_order =
      data != nullptr && !producer.axes.empty() &&
      loop::Simplify(data->index.back(), bounds).get() == producer.axes.back().var.get();
  return in_order ? 1 : Cost(producer.value, target);
}

bool WorthInlining(const loop::Kernel& kernel, const Stage& producer, const Target& target) {
  int64_t reads = 0;
  for (const Stage& consumer : kernel.stages) {
    if (!Reads(consumer, producer.buffer)) continue;
    if (!KeepsFactorsPlain(consumer, producer, target)) return false;
    reads += CountLoads(consumer, producer.buffer) * TotalExtent(consumer.axes) *
             TotalExtent(consumer.reduce);
  }
  const int64_t points = std::max<int64_t>(TotalExtent(producer.axes), 1);
  return reads * CostWhereRead(producer, target) <=
         points * Cost(producer.value, target) + reads + points * target.machine->costs.store;
}

// Returns the internal buffer that an output is a plain copy of; null if it is not a copy.
Buffer CopiedBuffer(const loop::Kernel& kernel, const Stage& copy) {
  const auto* load = copy.value.As<loop::Load>();
  if (copy.combine != loop::Combine::kNone || load == nullptr || !IsIdentity(copy) ||
      !IsOutput(kernel, copy.buffer) || load->buffer->scope != loop::BufferScope::kWorkspace ||
      load->buffer->shape != copy.buffer->shape || load->buffer->dtype != copy.buffer->dtype) {
    return nullptr;
  }
  const bool same =
      std::equal(load->index.begin(), load->index.end(), copy.index.begin(), copy.index.end(),
                 [](const Expr& a, const Expr& b) { return a.get() == b.get(); });
  return same ? load->buffer : nullptr;
}

// Replaces each buffer that is copied to an output by that output.
void ForwardCopies(loop::Kernel& kernel) {
  for (size_t i = 0; i < kernel.stages.size();) {
    const Buffer output = kernel.stages[i].buffer;
    const Buffer from = CopiedBuffer(kernel, kernel.stages[i]);
    if (from == nullptr) {
      ++i;
      continue;
    }
    kernel.stages.erase(kernel.stages.begin() + static_cast<std::ptrdiff_t>(i));
    for (Stage& stage : kernel.stages) {
      if (stage.buffer == from) stage.buffer = output;
      stage.value = ReplaceLoads(stage.value, from, [&](const std::vector<Expr>& index) {
        return loop::MakeLoad(output, index);
      });
    }
  }
}

}  // namespace

void InlineStages(loop::Kernel& kernel, const Target& target) {
  for (size_t i = 0; i < kernel.stages.size();) {
    const Stage producer = kernel.stages[i];
    const bool can = producer.combine == loop::Combine::kNone && IsIdentity(producer) &&
                     !IsOutput(kernel, producer.buffer);
    if (!can || !WorthInlining(kernel, producer, target)) {
      ++i;
      continue;
    }
    kernel.stages.erase(kernel.stages.begin() + static_cast<std::ptrdiff_t>(i));
    for (Stage& stage : kernel.stages) {
      if (Reads(stage, producer.buffer)) stage.value = InlineInto(stage.value, producer);
    }
  }
  ForwardCopies(kernel);
}

}  // namespace kiln::schedule
