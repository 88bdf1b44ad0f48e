// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

constexpr int64_t kMaxShift = 30;

InferResult InferFixedPointMultiply(const InferContext& c) {
  KILN_CONSTRAINT(1, c.inputs[0].dtype == DType::Int(32), c.inputs[0].dtype.ToString(), "int32");
  const int64_t multiplier = c.attrs.Int("multiplier"), shift = c.attrs.Int("shift");
  KILN_CONSTRAINT(2, multiplier >= INT32_MIN && multiplier <= INT32_MAX,
                  absl::StrCat("multiplier ", multiplier), "an int32");
  KILN_CONSTRAINT(3, shift >= -kMaxShift && shift <= kMaxShift, absl::StrCat("shift ", shift),
                  absl::StrCat(-kMaxShift, " to ", kMaxShift));
  return OutputTypes({c.inputs[0]});
}

// The product has 62 bits and half of the divisor at most 61, so that their sum
// does not overflow 64 bits.
absl::Status LowerFixedPointMultiply(StageBuilder& b) {
  const DType wide = DType::Int(64);
  const int64_t down = 31 - b.attrs().Int("shift");
  const auto number = [&](int64_t value) { return loop::IntConst(loop::Type::Of(wide), value); };
  b.Output(0, [&, x = b.Input(0)](const Indices& i) {
    const Expr product = loop::MakeCast(wide, x(i)) * number(b.attrs().Int("multiplier"));
    return loop::MakeCast(DType::Int(32),
                          Shr(product + number(int64_t{1} << (down - 1)), number(down)));
  });
  return absl::OkStatus();
}

const OpDef kFixedPointMultiply = {
    {.name = "fixed_point_multiply",
     .doc = "data * multiplier / 2^31 * 2^shift, rounded to the nearest integer with halves up, "
            "and wrapped to int32.",
     .inputs = {{"data", "int32"}},
     .attrs =
         {{"multiplier", AttrType::kInt, {}, true, "factor with 31 bits after the binary point"},
          {"shift", AttrType::kInt, {}, true, "shift to the left, in bits"}}},
    {"data is int32", "multiplier is an int32", "shift is -30 to 30"},
    {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
    InferFixedPointMultiply,
    LowerFixedPointMultiply,
    {Case({Values(I32({5}), {100, -100, 3, -3, 2147483647})},
          {{"multiplier", 1 << 30}, {"shift", 0}},
          {Values(I32({5}), {50, -50, 2, -1, 1073741824})}),
     Case({Values(I32({3}), {100, 7, -2147483647.0 - 1})},
          {{"multiplier", 1395864371}, {"shift", -2}}, {Values(I32({3}), {16, 1, -348966093})}),
     Case({Values(I32({2}), {3, -5})}, {{"multiplier", 1 << 30}, {"shift", 3}},
          {Values(I32({2}), {12, -20})}),
     {.inputs = {I32({3, 5})}, .attrs = {{"multiplier", -123456789}, {"shift", 4}}}},
};
KILN_REGISTER_OP(kFixedPointMultiply);

}  // namespace
}  // namespace kiln
