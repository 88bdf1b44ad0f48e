// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

InferResult InferClip(const InferContext& c) {
  KILN_CONSTRAINT(1, IsNumeric(c.inputs[0].dtype), c.inputs[0].dtype.ToString(), "numbers");
  const double low = c.attrs.Float("a_min"), high = c.attrs.Float("a_max");
  KILN_CONSTRAINT(2, low <= high, absl::StrCat("a_min ", low, " and a_max ", high),
                  "a_min not above a_max, and no NaN");
  return OutputTypes({c.inputs[0]});
}

// Returns `value` as a constant. Values beyond the range of an integer dtype saturate.
Expr Bound(const loop::Type& type, double value) {
  const DType dtype = type.dtype;
  if (dtype.is_float()) return loop::Const(type, value);
  const bool is_uint64 = dtype == DType::UInt(64);
  const double max = is_uint64 ? 0x1p64 : static_cast<double>(dtype.MaxInt());
  if (value >= max) return loop::IntConst(type, dtype.MaxInt());
  if (value <= static_cast<double>(dtype.MinInt())) return loop::IntConst(type, dtype.MinInt());
  return loop::IntConst(type, is_uint64 ? static_cast<int64_t>(static_cast<uint64_t>(value))
                                        : static_cast<int64_t>(value));
}

absl::Status LowerClip(StageBuilder& b) {
  const double low = b.attrs().Float("a_min"), high = b.attrs().Float("a_max");
  b.Output(0, [=, x = b.Input(0)](const Indices& i) {
    const Expr value = x(i);
    const bool is_float = value.type().dtype.is_float();
    // Bounds of integers are rounded inwards.
    const Expr min = Bound(value.type(), is_float ? low : std::ceil(low));
    const Expr max = Bound(value.type(), is_float ? high : std::floor(high));
    return Max(Min(value, max), min);
  });
  return absl::OkStatus();
}

const OpDef kClip = {
    {.name = "clip",
     .doc = "x limited to the range from a_min to a_max. NaN stays.",
     .inputs = {{"data", "numbers of any shape"}},
     .attrs = {{"a_min", AttrType::kFloat, {}, true, "least value of the result"},
               {"a_max", AttrType::kFloat, {}, true, "greatest value of the result"}}},
    {"data holds numbers", "a_min is not above a_max, and neither is NaN"},
    {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
    InferClip,
    LowerClip,
    {Case({Values(F32({3}), {-1, 3, 7})}, {{"a_min", 0.0}, {"a_max", 6.0}},
          {Values(F32({3}), {0, 3, 6})}),
     Case({Values(U8({3}), {1, 3, 255})}, {{"a_min", 2.5}, {"a_max", 1e10}},
          {Values(U8({3}), {3, 3, 255})}),
     {.inputs = {I8({2, 3})}, .attrs = {{"a_min", -3.0}, {"a_max", 3.0}}},
     {.inputs = {F16({2, 3})}, .attrs = {{"a_min", -1.0}, {"a_max", 1.0}}}},
};
KILN_REGISTER_OP(kClip);

}  // namespace
}  // namespace kiln
