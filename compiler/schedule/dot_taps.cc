// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of small integers: groups the taps of a window that an instruction adds at
// once.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/dot_parts.h"
#include "compiler/schedule/value_range.h"

namespace kiln::schedule {
namespace {

using loop::Range;

// Returns the value under a conversion to int32; empty if `factor` is not such a conversion.
Expr Narrow(const Expr& factor) {
  const auto* cast = factor.As<loop::Cast>();
  const bool widens = cast != nullptr && factor.type() == loop::Type::Of(kI32) &&
                      cast->a.type().dtype.is_integral() && !cast->a.type().dtype.is_bool();
  return widens ? cast->a : Expr();
}

// Returns the fastest vector instruction that multiplies values of type `x` by a constant of these
// values without a shift or a change of sign. Its groups can be made of elements that are not
// contiguous. Returns null if there is none.
const DotInstruction* FindRow(DType x, const Range& y, const Target& target) {
  for (const DotInstruction* row : DotInstructionsOf(target, kI32)) {
    const int64_t bits = row->FormOf(target)->lanes * int64_t{kI32.bits};
    if (row->geometry == DotGeometry::kColumns && row->group > 1 && !row->swaps &&
        (row->a.bits > 8 || bits <= target.machine->dots.bytes_interleaved_bits) &&
        Range::OfType(x).within(Range::OfType(row->a)) && y.within(Range::OfType(row->b))) {
      return row;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<Stage> GroupTaps(const Stage& stage, Context& context) {
  const auto* product = stage.value.As<loop::Binary>();
  if (stage.combine != loop::Combine::kSum || product == nullptr ||
      product->op != loop::BinaryOp::kMul || stage.axes.empty() ||
      stage.axes.back().extent % context.target.machine->dots.min_lanes != 0) {
    return std::nullopt;
  }
  const auto window = std::find_if(stage.reduce.begin(), stage.reduce.end(),
                                   [](const Axis& axis) { return axis.extent > 1; });
  if (window == stage.reduce.end()) return std::nullopt;
  const Expr x = Narrow(product->a), y = Narrow(product->b);
  const loop::Load* load = y.get() == nullptr ? nullptr : y.As<loop::Load>();
  const loop::Constant* source = load == nullptr ? nullptr : FindConstant(context, load->buffer);
  if (x.get() == nullptr || source == nullptr) return std::nullopt;
  const Range taps = RangeOfElements(source->tensor);
  const DotInstruction* row = FindRow(x.type().dtype, taps, context.target);
  if (row == nullptr) return std::nullopt;

  // The taps of a group are contiguous, inside of the channel axis. Zeros follow the window's last
  // tap.
  const int64_t group = row->group, extent = window->extent, groups = DivideUp(extent, group);
  const auto grouped = static_cast<size_t>(window - stage.reduce.begin());
  std::vector<Axis> order(stage.axes.begin(), stage.axes.end() - 1);
  const size_t grouped_in_order = order.size() + grouped;
  order.insert(order.end(), stage.reduce.begin(), stage.reduce.end());
  order.push_back(stage.axes.back());
  const auto form = FactorForm(y, order);
  int64_t base = 0;
  if (!form.has_value() || !loop::AsInt(form->base, &base) || form->coefficients.back() == 0) {
    return std::nullopt;
  }
  order[grouped_in_order].extent = groups;
  const int64_t tap_stride = form->coefficients[grouped_in_order];
  std::vector<PackedAxis> axes;
  Expr at = 0;
  size_t groups_axis = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_grouped = i == grouped_in_order;
    if (is_grouped) groups_axis = axes.size();
    if (form->coefficients[i] == 0 && !is_grouped) continue;
    axes.push_back({order[i].extent, form->coefficients[i] * (is_grouped ? group : 1)});
    at = at * Expr(order[i].extent) + order[i].var;
  }
  axes.push_back({group, tap_stride});
  const Buffer packed = PackConstant(load->buffer, base, axes, context, groups_axis, extent);
  const Buffer grouped_taps =
      WithElementsOf(row->b, packed, absl::StrCat(load->buffer->name, "_grouped"), context);

  // Elements of a group after the window's last tap are 0.
  std::vector<Expr> elements;
  const Var var = window->var;
  for (int64_t k = 0; k < group; ++k) {
    const Expr tap = var * Expr(group) + Expr(k);
    const bool is_tap = (groups - 1) * group + k < extent;
    const Expr element = loop::MakeCast(
        row->a,
        loop::Substitute(x, {{var.get(), is_tap ? tap : loop::Min(tap, Expr(extent - 1))}}));
    elements.push_back(
        is_tap ? element
               : loop::MakeSelect(tap < Expr(extent), element, loop::IntConst(element.type(), 0)));
  }
  Stage result = stage;
  result.reduce[grouped].extent = groups;
  const int lanes = static_cast<int>(group);
  result.value =
      loop::MakeDot({.instruction = std::string(row->name), .group = lanes}, loop::Const(kI32, 0),
                    loop::MakeInterleave(std::move(elements)),
                    loop::MakeLoad(grouped_taps, {loop::MakeRamp(at * Expr(group), 1, lanes)}));
  return result;
}

}  // namespace kiln::schedule
