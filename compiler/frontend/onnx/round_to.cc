// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/round_to.h"

#include <cmath>
#include <limits>

#include "compiler/frontend/onnx/formula.h"

namespace kiln::onnx_frontend {
namespace {

constexpr int kMantissaOfF32 = 23;

// Keeps the low bits of an int32, interpreted as signed or unsigned.
ValueId LowBits(const StorageType& type, ValueId x, Formula& f) {
  const ValueId bits = f("bitwise_and", {f.Cast(x, kI32), f.Number((1 << type.bits) - 1, x)});
  if (type.dtype.is_uint()) return f.Cast(bits, type.dtype);
  const double half = 1 << (type.bits - 1);
  const ValueId flipped = f("bitwise_xor", {bits, f.Number(half, x)});
  return f.Cast(f("subtract", {flipped, f.Number(half, x)}), type.dtype);
}

// Rounds |x| to the mantissa bits of `type`, halves to even. The rounding is an addition to the
// bits of the float, and a carry runs into the exponent. Below 2^min_exponent, it rounds to
// multiples of the smallest number, by adding and subtracting a number whose last place has that
// value.
ValueId RoundedMagnitude(const StorageType& type, ValueId magnitude, Formula& f) {
  const int dropped = kMantissaOfF32 - type.mantissa_bits;
  const ValueId bits = f("reinterpret", {magnitude}, {{"dtype", "int32"}});
  const auto number = [&](double value) { return f.Number(value, bits); };
  const ValueId last = f("bitwise_and", {f("right_shift", {bits, number(dropped)}), number(1)});
  const ValueId sum = f("add", {f("add", {bits, number((1 << (dropped - 1)) - 1)}), last});
  const ValueId kept = f("bitwise_and", {sum, number(-(1 << dropped))});
  const ValueId normal = f("reinterpret", {kept}, {{"dtype", "float32"}});
  const double large = std::ldexp(1.0, kMantissaOfF32 + type.min_exponent - type.mantissa_bits);
  const ValueId subnormal = f(
      "subtract", {f("add", {magnitude, f.Number(large, magnitude)}), f.Number(large, magnitude)});
  const ValueId is_small =
      f("less", {magnitude, f.Number(std::ldexp(1.0, type.min_exponent), magnitude)});
  return f("where", {is_small, subnormal, normal});
}

}  // namespace

absl::StatusOr<ValueId> RoundTo(const StorageType& type, ValueId x, bool saturate, Converter& c) {
  Formula f(c);
  if (type.dtype != kF32) {
    const ValueId integer = f.Cast(x, kI32);
    const ValueId y = f.ok() ? LowBits(type, integer, f) : kNoId;
    if (!f.ok()) return f.status();
    return y;
  }
  const ValueId wide = f.Cast(x, kF32);
  const ValueId magnitude = f("abs", {wide});
  const auto number = [&](double value) { return f.Number(value, wide); };
  ValueId y = RoundedMagnitude(type, magnitude, f);
  const double beyond = saturate || type.special == SpecialCodes::kNone ? type.largest
                        : type.special == SpecialCodes::kInfinityAndNan ? INFINITY
                                                                        : NAN;
  y = f("where", {f("greater", {y, number(type.largest)}), number(beyond), y});
  // Copies the sign of x, also to 0 if the type has -0.
  const bool has_negative_zero = type.special != SpecialCodes::kOneNan;
  const ValueId sign =
      has_negative_zero
          ? f("bitwise_and",
              {f("reinterpret", {wide}, {{"dtype", "int32"}}),
               c.Constant(Tensor::From<int32_t>({}, kI32, {std::numeric_limits<int32_t>::min()}))})
          : kNoId;
  if (has_negative_zero) {
    const ValueId bits = f("bitwise_or", {f("reinterpret", {y}, {{"dtype", "int32"}}), sign});
    y = f("reinterpret", {bits}, {{"dtype", "float32"}});
  } else {
    y = f("where", {f("less", {wide, number(0)}), f("subtract", {number(0), y}), y});
  }
  // NaN stays NaN, or becomes 0 if the type has no NaN.
  const double nan = type.special == SpecialCodes::kNone ? 0 : NAN;
  y = f("where", {f("isnan", {wide}), number(nan), y});
  if (!f.ok()) return f.status();
  return y;
}

}  // namespace kiln::onnx_frontend
