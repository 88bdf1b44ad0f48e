// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/storage_types.h"

#include <cmath>
#include <limits>
#include <vector>

#include "compiler/frontend/onnx/formula.h"

namespace kiln::onnx_frontend {
namespace {

constexpr DType kF32 = DType::Float(32), kI8 = DType::Int(8), kU8 = DType::UInt(8),
                kI32 = DType::Int(32);
constexpr int kMantissaOfF32 = 23;

// onnx.proto3's TensorProto.DataType, of which Debian's ONNX has the first only.
constexpr StorageType kTypes[] = {
    {16, "BFLOAT16", 16, kF32, 7, -126, 0x1.fep127, SpecialCodes::kInfinityAndNan},
    {17, "FLOAT8E4M3FN", 8, kF32, 3, -6, 448, SpecialCodes::kNanAlone},
    {18, "FLOAT8E4M3FNUZ", 8, kF32, 3, -7, 240, SpecialCodes::kOneNan},
    {19, "FLOAT8E5M2", 8, kF32, 2, -14, 57344, SpecialCodes::kInfinityAndNan},
    {20, "FLOAT8E5M2FNUZ", 8, kF32, 2, -15, 57344, SpecialCodes::kOneNan},
    {21, "UINT4", 4, kU8},
    {22, "INT4", 4, kI8},
    {23, "FLOAT4E2M1", 4, kF32, 1, 0, 6, SpecialCodes::kNone},
    {25, "UINT2", 2, kU8},
    {26, "INT2", 2, kI8},
};

// The number of a code of a float.
float NumberOf(const StorageType& type, uint32_t code) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const uint32_t sign = 1u << (type.bits - 1), magnitude = code & (sign - 1);
  const bool negative = (code & sign) != 0;
  const uint32_t hidden = 1u << type.mantissa_bits;
  const uint32_t exponent = magnitude / hidden, mantissa = magnitude % hidden;
  const uint32_t all_ones = (sign - 1) / hidden;
  switch (type.special) {
    case SpecialCodes::kInfinityAndNan:
      if (exponent < all_ones) break;
      return mantissa != 0 ? kNan : negative ? -INFINITY : INFINITY;
    case SpecialCodes::kNanAlone:
      if (magnitude == sign - 1) return kNan;
      break;
    case SpecialCodes::kOneNan:
      if (code == sign) return kNan;
      break;
    case SpecialCodes::kNone:
      break;
  }
  const int at = type.min_exponent - type.mantissa_bits;
  const float number = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), at)
                                     : std::ldexp(static_cast<float>(hidden + mantissa),
                                                  at + static_cast<int>(exponent) - 1);
  return negative ? -number : number;
}

// The low bits of an int32, of one sign or both.
ValueId LowBits(const StorageType& type, ValueId x, Formula& f) {
  const ValueId bits = f("bitwise_and", {f.Cast(x, kI32), f.Number((1 << type.bits) - 1, x)});
  if (type.dtype.is_uint()) return f.Cast(bits, type.dtype);
  const double half = 1 << (type.bits - 1);
  const ValueId flipped = f("bitwise_xor", {bits, f.Number(half, x)});
  return f.Cast(f("subtract", {flipped, f.Number(half, x)}), type.dtype);
}

// |x| rounded to so many bits of mantissa, halves to even: the bits of a float are added to, and the
// carry goes on into its exponent. Below 2^min_exponent, to multiples of the smallest number: a sum
// with a number so large that its last place is that.
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

const StorageType* FindStorageType(int onnx_data_type) {
  for (const StorageType& type : kTypes) {
    if (type.onnx == onnx_data_type) return &type;
  }
  return nullptr;
}

Tensor Unpack(const StorageType& type, Shape shape, const std::string& packed) {
  const auto elements = static_cast<size_t>(NumElements(shape));
  const auto bits = static_cast<size_t>(type.bits);
  std::vector<float> floats;
  std::vector<int8_t> integers;
  for (size_t i = 0; i < elements; ++i) {
    uint32_t code = 0;
    for (size_t byte = 0; byte < (bits + 7) / 8; ++byte) {
      const uint32_t found = static_cast<uint8_t>(packed[i * bits / 8 + byte]);
      code |= found << (8 * byte);
    }
    code = code >> (i * bits % 8) & ((1u << bits) - 1);
    if (type.dtype == kF32) {
      floats.push_back(NumberOf(type, code));
    } else {
      const bool negative = type.dtype.is_int() && code >> (bits - 1) != 0;
      integers.push_back(static_cast<int8_t>(negative ? code - (1u << bits) : code));
    }
  }
  return type.dtype == kF32 ? Tensor::From<float>(std::move(shape), kF32, floats)
                            : Tensor::From<int8_t>(std::move(shape), type.dtype, integers);
}

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
  // The sign of x, which -0 has too where the type has one.
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
  // What is no number stays none; a type without it has 0 instead.
  const double nan = type.special == SpecialCodes::kNone ? 0 : NAN;
  y = f("where", {f("isnan", {wide}), number(nan), y});
  if (!f.ok()) return f.status();
  return y;
}

}  // namespace kiln::onnx_frontend
