// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/dot_vector.h"

#include <algorithm>

namespace kiln::codegen {
namespace {

using loop::Expr;
using Factor = DotVector::Factor;

const Expr& BehindCast(const Expr& e) {
  const auto* cast = e.As<loop::Cast>();
  return cast == nullptr ? e : cast->a;
}

const Expr& BehindBroadcast(const Expr& e) {
  const auto* broadcast = e.As<loop::Broadcast>();
  return broadcast == nullptr ? e : broadcast->a;
}

// Returns one element of a group for all lanes: a load of the type that the instruction reads, a
// load of bytes if it reads words, or a number.
std::optional<Factor> ElementFactor(const Expr& e, const DotInstruction& row, int lanes) {
  int64_t number = 0;
  if (loop::AsInt(BehindBroadcast(e), &number)) return Factor{.number = number};
  const loop::Load* load = AsNeighbours(BehindCast(e));
  if (load == nullptr || e.type().lanes != lanes) return std::nullopt;
  const DType dtype = load->buffer->dtype;
  const bool extends = row.a == DType::Int(16) && dtype.bits == 8 && dtype.is_integral();
  return dtype == row.a || extends ? std::optional<Factor>(Factor{.load = load}) : std::nullopt;
}

// Returns factors for rows whose elements are not adjacent: interleaved, or a number for all of
// them.
std::optional<std::vector<Factor>> FactorsApart(const Expr& a, const DotInstruction& row,
                                                int lanes) {
  const bool is_x86 =
      row.IsOfArch("x86_64") && row.a == DType::Int(16) && row.group == 2 && lanes > 4;
  const bool is_arm = row.IsOfArch("aarch64") && row.a.bits == 8 && row.group == 4;
  const auto* interleave = a.As<loop::Interleave>();
  const auto* broadcast = a.As<loop::Broadcast>();
  if (!(is_x86 || is_arm) || row.geometry != DotGeometry::kColumns) return std::nullopt;
  std::vector<Factor> factors;
  for (int k = 0; k < row.group; ++k) {
    const bool has_operand =
        interleave != nullptr && interleave->operands.size() == static_cast<size_t>(row.group);
    if (!has_operand && broadcast == nullptr) return std::nullopt;
    const auto factor = ElementFactor(
        has_operand ? interleave->operands[static_cast<size_t>(k)] : broadcast->a, row, lanes);
    if (!factor.has_value()) return std::nullopt;
    factors.push_back(*factor);
  }
  return factors;
}

}  // namespace

const loop::Load* AsNeighbours(const Expr& factor) {
  const auto* load = factor.As<loop::Load>();
  if (load == nullptr || load->index.size() != 1) return nullptr;
  const auto* ramp = load->index[0].As<loop::Ramp>();
  const bool are_neighbours = ramp != nullptr ? ramp->stride == 1 : factor.type().lanes == 1;
  return are_neighbours ? load : nullptr;
}

const Expr& DotVector::Factor::offset() const {
  const auto* ramp = load->index[0].As<loop::Ramp>();
  return ramp == nullptr ? load->index[0] : ramp->base;
}

std::optional<DotVector> AsDotVector(const loop::Dot& dot) {
  const DotInstruction* row = FindDotInstruction(dot.kind.instruction);
  const int lanes = dot.sum.type().lanes;
  const bool has_form = row != nullptr && row->geometry != DotGeometry::kMatrix &&
                        std::any_of(row->forms.begin(), row->forms.end(), [&](const DotForm& form) {
                          return form.lanes == lanes && !form.c.empty();
                        });
  if (!has_form || row->group != dot.kind.group || dot.kind.swaps || dot.kind.steps > 1 ||
      dot.kind.column_run > 0) {
    return std::nullopt;
  }
  const loop::Load* b = AsNeighbours(BehindCast(dot.b));
  const bool widens = row->widens_in_steps && dot.b.type().dtype == row->b && b != nullptr &&
                      b->buffer->dtype == DType::Int(row->b.bits / 2);
  if (b == nullptr || !(b->buffer->dtype == row->b || widens)) return std::nullopt;
  DotVector result{
      .row = row,
      .shape = *loop::DotShape::Of(lanes, dot.a.type().lanes, dot.b.type().lanes, dot.kind),
      .a = {},
      .b = {.load = b}};
  const loop::DotShape& shape = result.shape;
  const bool is_of_row = row->geometry == DotGeometry::kOuter
                             ? !shape.paired && shape.rows == 2 && shape.columns == 2
                             : shape.paired || shape.rows == 1 || shape.columns == 1;
  if (widens && !shape.paired && shape.columns == 1) return std::nullopt;
  const loop::Load* a = AsNeighbours(dot.a);
  if (is_of_row && a != nullptr && a->buffer->dtype == row->a) {
    result.a = {{.load = a}};
    return result;
  }
  std::optional<std::vector<Factor>> apart = FactorsApart(dot.a, *row, lanes);
  const bool meets_lanes = shape.paired || shape.rows == 1;
  if (!apart.has_value() || !meets_lanes || widens || b->buffer->dtype != row->b) {
    return std::nullopt;
  }
  result.a = *std::move(apart);
  result.apart = true;
  return result;
}

}  // namespace kiln::codegen
