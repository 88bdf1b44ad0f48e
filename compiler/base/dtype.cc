// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/dtype.h"

#include <array>
#include <limits>

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr std::array<DType, 12> kAllDTypes = {DType::Float(32), DType::Float(64), DType::Float(16),
                                              DType::Int(8),    DType::Int(16),   DType::Int(32),
                                              DType::Int(64),   DType::UInt(8),   DType::UInt(16),
                                              DType::UInt(32),  DType::UInt(64),  DType::Bool()};

}  // namespace

std::string DType::ToString() const {
  switch (kind) {
    case DTypeKind::kInt:
      return absl::StrCat("int", bits);
    case DTypeKind::kUInt:
      return absl::StrCat("uint", bits);
    case DTypeKind::kFloat:
      return absl::StrCat("float", bits);
    case DTypeKind::kBFloat:
      return absl::StrCat("bfloat", bits);
    case DTypeKind::kBool:
      return "bool";
  }
  return "invalid";
}

absl::StatusOr<DType> DType::Parse(absl::string_view text) {
  for (DType dtype : kAllDTypes) {
    if (dtype.ToString() == text) return dtype;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown dtype '", text,
                   "'; known are float16, float32, float64, int8 to int64, uint8 to uint64, bool"));
}

int64_t DType::MinInt() const {
  if (!is_int()) return 0;
  return bits == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (bits - 1));
}

int64_t DType::MaxInt() const {
  if (is_bool()) return 1;
  if (is_uint()) return bits == 64 ? -1 : (int64_t{1} << bits) - 1;
  return bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1;
}

}  // namespace kiln
