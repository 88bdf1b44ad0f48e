// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/storage_types.h"

#include <cmath>
#include <limits>
#include <vector>

namespace kiln::onnx_frontend {
namespace {

// Values of onnx.proto3's TensorProto.DataType. Debian's ONNX defines only the first.
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

// Returns the value of a code of a float type.
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

}  // namespace kiln::onnx_frontend
