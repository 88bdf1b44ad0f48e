// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "compiler/schedule/families.h"

namespace kiln::schedule {
namespace {

// What storing an element and loading it again costs, in additions.
constexpr int64_t kStoreCost = 3;

int CountLoads(const Stage& stage, const Buffer& buffer) {
  int loads = 0;
  loop::VisitExpr(stage.value, [&](const Expr& e) {
    const auto* load = e.As<loop::Load>();
    loads += load != nullptr && load->buffer == buffer ? 1 : 0;
  });
  return loads;
}

// A sum of products reads its factors many times: they must stay plain loads at linear indices.
bool KeepsFactorsPlain(const Stage& consumer, const Stage& producer) {
  const auto* product = consumer.value.As<loop::Binary>();
  if (consumer.combine != loop::Combine::kSum || product == nullptr ||
      product->op != loop::BinaryOp::kMul) {
    return true;
  }
  Expr value = producer.value;
  while (const auto* cast = value.As<loop::Cast>()) value = cast->a;
  if (value.As<loop::Load>() == nullptr) return false;
  std::vector<Axis> axes = consumer.axes;
  axes.insert(axes.end(), consumer.reduce.begin(), consumer.reduce.end());
  loop::Bounds bounds;
  AddBounds(axes, bounds);
  return CollectAccesses(InlineInto(consumer.value, producer), VarsOfAxes(axes), bounds).all_linear;
}

bool WorthInlining(const loop::Kernel& kernel, const Stage& producer) {
  int64_t reads = 0;
  for (const Stage& consumer : kernel.stages) {
    if (!Reads(consumer, producer.buffer)) continue;
    if (!KeepsFactorsPlain(consumer, producer)) return false;
    reads += CountLoads(consumer, producer.buffer) * TotalExtent(consumer.axes) *
             TotalExtent(consumer.reduce);
  }
  const int64_t points = std::max<int64_t>(TotalExtent(producer.axes), 1);
  const int64_t cost = Cost(producer.value);
  return reads * cost <= points * cost + reads + points * kStoreCost;
}

}  // namespace

void InlineStages(loop::Kernel& kernel) {
  for (size_t i = 0; i < kernel.stages.size();) {
    const Stage producer = kernel.stages[i];
    const bool can = producer.combine == loop::Combine::kNone && IsIdentity(producer) &&
                     !IsOutput(kernel, producer.buffer);
    if (!can || !WorthInlining(kernel, producer)) {
      ++i;
      continue;
    }
    kernel.stages.erase(kernel.stages.begin() + static_cast<std::ptrdiff_t>(i));
    for (Stage& stage : kernel.stages) {
      if (Reads(stage, producer.buffer)) stage.value = InlineInto(stage.value, producer);
    }
  }
}

}  // namespace kiln::schedule
