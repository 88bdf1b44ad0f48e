// SPDX-License-Identifier: Apache-2.0
// The element type of a tensor, or of a scalar in the loop IR. Only the loop IR has bfloat16.
//
//   DType t = DType::Float(32);
//   t.ToString();                    // "float32"
//   DType::Parse("uint8");           // StatusOr<DType>
#ifndef KILN_COMPILER_BASE_DTYPE_H_
#define KILN_COMPILER_BASE_DTYPE_H_

#include <compare>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln {

enum class DTypeKind : uint8_t {
  kInt,     // two's complement, 8, 16, 32 or 64 bits
  kUInt,    // 8, 16, 32 or 64 bits
  kFloat,   // IEEE 754, 16, 32 or 64 bits
  kBFloat,  // upper 16 bits of a float32; only in the loop IR, as a factor of an instruction
  kBool,    // stored as one byte, 0 or 1
};

struct DType {
  DTypeKind kind = DTypeKind::kFloat;
  uint8_t bits = 32;

  static constexpr DType Int(int bits) { return {DTypeKind::kInt, static_cast<uint8_t>(bits)}; }
  static constexpr DType UInt(int bits) { return {DTypeKind::kUInt, static_cast<uint8_t>(bits)}; }
  static constexpr DType Float(int bits) { return {DTypeKind::kFloat, static_cast<uint8_t>(bits)}; }
  static constexpr DType BFloat() { return {DTypeKind::kBFloat, 16}; }
  static constexpr DType Bool() { return {DTypeKind::kBool, 1}; }

  constexpr bool is_int() const { return kind == DTypeKind::kInt; }
  constexpr bool is_uint() const { return kind == DTypeKind::kUInt; }
  constexpr bool is_float() const { return kind == DTypeKind::kFloat || is_bfloat(); }
  constexpr bool is_bfloat() const { return kind == DTypeKind::kBFloat; }
  constexpr bool is_bool() const { return kind == DTypeKind::kBool; }
  // True for a signed or unsigned integer, false for a bool.
  constexpr bool is_integral() const { return is_int() || is_uint(); }

  // Bytes of one element in memory.
  constexpr int bytes() const { return (bits + 7) / 8; }

  // "float32", "int8", "uint64", "bool" or "bfloat16".
  std::string ToString() const;
  // Parses the spellings of ToString. InvalidArgument for any other text and for "bfloat16", which
  // no tensor has.
  static absl::StatusOr<DType> Parse(absl::string_view text);

  // The smallest and the largest value of an integer type as int64. The largest uint64 reads as -1.
  int64_t MinInt() const;
  int64_t MaxInt() const;

  friend constexpr auto operator<=>(const DType&, const DType&) = default;
};

inline constexpr DType kI8 = DType::Int(8), kI16 = DType::Int(16), kI32 = DType::Int(32),
                       kI64 = DType::Int(64);
inline constexpr DType kU8 = DType::UInt(8), kU16 = DType::UInt(16), kU32 = DType::UInt(32),
                       kU64 = DType::UInt(64);
inline constexpr DType kF16 = DType::Float(16), kF32 = DType::Float(32), kF64 = DType::Float(64);

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_DTYPE_H_
