// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/sum_order.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/accumulate.h"
#include "compiler/schedule/nest.h"

namespace kiln::schedule {
namespace {

bool Contiguous(const AccessSet& set, size_t position) {
  for (const LinearAccess& access : set.linear) {
    const int64_t stride = access.form.coefficients[position];
    if (stride != 0 && stride != 1) return false;
  }
  return set.all_linear;
}

// True if vectors are along the innermost axis of the reduction, and not along that of the space.
bool IsAlongReduction(const Stage& stage) {
  if (stage.value.As<loop::Dot>() != nullptr) return false;
  std::vector<Axis> all = stage.axes;
  all.insert(all.end(), stage.reduce.begin(), stage.reduce.end());
  loop::Bounds bounds;
  AddBounds(all, bounds);
  const AccessSet set = CollectAccesses(stage.value, VarsOfAxes(all), bounds);
  if (stage.axes.empty() || stage.axes.back().extent == 1) return true;
  if (!Contiguous(set, all.size() - 1) || stage.reduce.back().extent == 1) return false;
  // Both axes are contiguous only if a load does not move along one of them. The longer axis is
  // then used.
  return !Contiguous(set, stage.axes.size() - 1) ||
         stage.axes.back().extent <= stage.reduce.back().extent;
}

}  // namespace

int64_t ReductionTile(int64_t extent, DType dtype, const Target& target) {
  return std::min<int64_t>(extent, target.Lanes(dtype) * target.machine->reductions.vectors);
}

SumOrder OrderOfTile(const SumOrder& order, const Stage& stage, int64_t columns,
                     const Target& target) {
  if (order.kind == SumOrder::Kind::kLanes || stage.value.As<loop::Dot>() != nullptr) return order;
  // A narrow tile leaves vectors of sums idle. If the reduction is long, each takes a part of it.
  const int64_t lanes = target.Lanes(stage.value.type().dtype);
  const int64_t chains = target.machine->reductions.vectors * lanes / std::max<int64_t>(columns, 1);
  const bool is_long =
      stage.reduce.size() == 1 &&
      stage.reduce[0].extent >= target.machine->reductions.min_steps_of_chain * chains;
  const bool divides = lanes > 1 && chains > 1 && is_long;
  SumOrder of_tile = order;
  of_tile.kind = divides ? SumOrder::Kind::kChains : SumOrder::Kind::kInOrder;
  of_tile.ways = divides ? chains : 1;
  return of_tile;
}

SumOrder OrderOfSums(const Stage& stage, const Target& target) {
  const DType dtype = stage.value.type().dtype;
  SumOrder order{.fused = IsFused(stage.combine, stage.value, target)};
  if (!IsAlongReduction(stage)) {
    const int64_t tile = ReductionTile(stage.axes.back().extent, dtype, target);
    return OrderOfTile(order, stage, tile, target);
  }
  order.kind = SumOrder::Kind::kLanes;
  const int64_t most = target.Lanes(dtype) * target.machine->reductions.vectors;
  while (order.ways < most && order.ways * 2 <= stage.reduce.back().extent) order.ways *= 2;
  return order;
}

std::string Text(const SumOrder& order) {
  std::string text;
  switch (order.kind) {
    case SumOrder::Kind::kInOrder:
      text = "in order";
      break;
    case SumOrder::Kind::kChains:
      text = absl::StrCat("in ", order.ways, " chains");
      break;
    case SumOrder::Kind::kLanes:
      text = absl::StrCat("in ", order.ways, " lanes");
      break;
    case SumOrder::Kind::kDots:
      text = absl::StrCat(
          "by ", order.instruction.empty() ? "groups" : order.instruction,
          order.factor_parts > 1 ? absl::StrCat(" in ", order.factor_parts, " parts") : "");
      break;
    case SumOrder::Kind::kWinograd:
      text = absl::StrCat("by Winograd F(", order.outputs, "x", order.outputs, ", 3x3)");
      break;
  }
  return absl::StrCat(text, order.fused ? ", fused" : "");
}

}  // namespace kiln::schedule
