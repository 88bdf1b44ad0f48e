// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/contraction_facts.h"

#include "compiler/loop/expr_node.h"

namespace kiln::schedule {
namespace {

// Returns the contraction without reduction axes of extent 1, for use before axes are merged.
Contraction WithoutUnitAxes(Contraction c) {
  std::erase_if(c.reduce, [](const Axis& axis) { return axis.extent == 1; });
  return c;
}

}  // namespace

std::optional<size_t> FindRowPadding(const loop::Kernel& kernel, size_t which) {
  const auto* product = kernel.stages[which].value.As<loop::Binary>();
  for (size_t i = 0; i < which; ++i) {
    const Stage& stage = kernel.stages[i];
    const auto* padded = stage.value.As<loop::Select>();
    const bool pads = stage.combine == loop::Combine::kNone && !stage.update && IsIdentity(stage) &&
                      IsReadByAlone(kernel, which, stage.buffer) && padded != nullptr &&
                      loop::IsConstant(padded->if_false) &&
                      padded->if_true.As<loop::Load>() != nullptr;
    if (!pads) continue;
    const bool is_factor = FactorLoad(product->a)->buffer == stage.buffer ||
                           FactorLoad(product->b)->buffer == stage.buffer;
    if (is_factor) return i;
  }
  return std::nullopt;
}

std::optional<size_t> ContractionFacts::RowPadding() {
  if (!row_padding_.has_value()) row_padding_ = FindRowPadding(*kernel_, which_);
  return *row_padding_;
}

const std::optional<DotPlan>& ContractionFacts::Dot(RowSource source, const Context& context) {
  const auto [found, is_new] = dots_.try_emplace(source);
  if (is_new && MayBeDotProduct(stage(), contraction_, context)) {
    found->second = PlanDotProduct(WithoutUnitAxes(contraction_), source, context);
  }
  return found->second;
}

}  // namespace kiln::schedule
