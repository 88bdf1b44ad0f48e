// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/tensor.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/limits.h"

namespace kiln {
namespace {

template <typename T>
T LoadAt(const std::string& bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// Calls `f` with an element of `tensor` as the C++ type of its dtype; float16 and bfloat16 as
// float.
template <typename F>
auto WithElement(const Tensor& tensor, int64_t i, F f) {
  const std::string& bytes = tensor.bytes();
  const DType dtype = tensor.type().dtype;
  switch (dtype.kind) {
    case DTypeKind::kBool:
      return f(LoadAt<uint8_t>(bytes, i));
    case DTypeKind::kFloat:
      if (dtype.bits == 16) return f(FloatFromHalf(LoadAt<uint16_t>(bytes, i)));
      if (dtype.bits == 32) return f(LoadAt<float>(bytes, i));
      return f(LoadAt<double>(bytes, i));
    case DTypeKind::kBFloat:
      return f(FloatFromBFloat(LoadAt<uint16_t>(bytes, i)));
    case DTypeKind::kInt:
      if (dtype.bits == 8) return f(LoadAt<int8_t>(bytes, i));
      if (dtype.bits == 16) return f(LoadAt<int16_t>(bytes, i));
      if (dtype.bits == 32) return f(LoadAt<int32_t>(bytes, i));
      return f(LoadAt<int64_t>(bytes, i));
    case DTypeKind::kUInt:
      break;
  }
  if (dtype.bits == 8) return f(LoadAt<uint8_t>(bytes, i));
  if (dtype.bits == 16) return f(LoadAt<uint16_t>(bytes, i));
  if (dtype.bits == 32) return f(LoadAt<uint32_t>(bytes, i));
  return f(LoadAt<uint64_t>(bytes, i));
}

// Rounds towards zero and saturates to the range of Int. Not-a-number becomes 0.
template <typename Int>
Int SaturatedInt(double value) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<Int>::min()))
    return std::numeric_limits<Int>::min();
  if (value >= static_cast<double>(std::numeric_limits<Int>::max()))
    return std::numeric_limits<Int>::max();
  return static_cast<Int>(value);
}

template <typename T>
void AppendRepeated(T value, int64_t count, std::string& out) {
  out.resize(static_cast<size_t>(count) * sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out.data() + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

void AppendInts(DType dtype, double value, int64_t n, std::string& out) {
  const bool is_signed = dtype.is_int();
  switch (dtype.bits) {
    case 8:
      return is_signed ? AppendRepeated(SaturatedInt<int8_t>(value), n, out)
                       : AppendRepeated(SaturatedInt<uint8_t>(value), n, out);
    case 16:
      return is_signed ? AppendRepeated(SaturatedInt<int16_t>(value), n, out)
                       : AppendRepeated(SaturatedInt<uint16_t>(value), n, out);
    case 32:
      return is_signed ? AppendRepeated(SaturatedInt<int32_t>(value), n, out)
                       : AppendRepeated(SaturatedInt<uint32_t>(value), n, out);
    default:
      return is_signed ? AppendRepeated(SaturatedInt<int64_t>(value), n, out)
                       : AppendRepeated(SaturatedInt<uint64_t>(value), n, out);
  }
}

}  // namespace

std::string ShapeToString(absl::Span<const int64_t> shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")");
}

int64_t NumElements(absl::Span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t extent : shape) n *= extent;
  return n;
}

Shape RowMajorStrides(absl::Span<const int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (int i = static_cast<int>(shape.size()) - 2; i >= 0; --i) {
    strides[i] = strides[i + 1] * shape[i + 1];
  }
  return strides;
}

std::string TensorType::ToString() const {
  if (shape.empty()) return dtype.ToString();
  return absl::StrCat("Tensor[", ShapeToString(shape), ", ", dtype.ToString(), "]");
}

absl::Status CheckTensorType(const TensorType& type) {
  if (type.rank() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", type.rank(), " is beyond the limit of ", kMaxRank));
  }
  int64_t elements = 1;
  for (int64_t extent : type.shape) {
    if (extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("negative extent in shape ", ShapeToString(type.shape)));
    }
    // An extent of 0 counts as 1, so that the product of any subset of the extents is within the
    // limit.
    if (__builtin_mul_overflow(elements, extent == 0 ? 1 : extent, &elements) ||
        elements > kMaxTensorElements) {
      return absl::InvalidArgumentError(absl::StrCat(
          "shape ", ShapeToString(type.shape), " has more than ", kMaxTensorElements, " elements"));
    }
  }
  if (elements > kMaxTensorBytes / type.dtype.bytes()) {
    return absl::InvalidArgumentError(
        absl::StrCat(type.ToString(), " takes more than ", kMaxTensorBytes, " bytes"));
  }
  return absl::OkStatus();
}

Tensor Tensor::Narrow(Shape shape, absl::Span<const int64_t> values) {
  int bits = 8;
  for (const int64_t value : values) {
    while (bits < 64 &&
           (value < -(int64_t{1} << (bits - 1)) || value >= int64_t{1} << (bits - 1))) {
      bits *= 2;
    }
  }
  std::string bytes;
  for (const int64_t value : values) {
    bytes.append(reinterpret_cast<const char*>(&value), static_cast<size_t>(bits / 8));
  }
  return Tensor({std::move(shape), DType::Int(bits)}, std::move(bytes));
}

Tensor Tensor::Filled(TensorType type, double value) {
  std::string bytes;
  const int64_t n = type.num_elements();
  const DType dtype = type.dtype;
  if (dtype.is_bool()) {
    AppendRepeated<uint8_t>(value != 0, n, bytes);
  } else if (dtype.is_bfloat()) {
    AppendRepeated(BFloatFromFloat(static_cast<float>(value)), n, bytes);
  } else if (dtype.is_float()) {
    if (dtype.bits == 16) AppendRepeated(HalfFromFloat(static_cast<float>(value)), n, bytes);
    if (dtype.bits == 32) AppendRepeated(static_cast<float>(value), n, bytes);
    if (dtype.bits == 64) AppendRepeated(value, n, bytes);
  } else {
    AppendInts(dtype, value, n, bytes);
  }
  return Tensor(std::move(type), std::move(bytes));
}

double Tensor::AsDouble(int64_t i) const {
  return WithElement(*this, i, [](auto value) { return static_cast<double>(value); });
}

int64_t Tensor::AsInt(int64_t i) const {
  return WithElement(*this, i, [](auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>) return SaturatedInt<int64_t>(value);
    return static_cast<int64_t>(value);
  });
}

std::vector<int64_t> Tensor::ToInts() const {
  std::vector<int64_t> ints(static_cast<size_t>(type_.num_elements()));
  for (size_t i = 0; i < ints.size(); ++i) ints[i] = AsInt(static_cast<int64_t>(i));
  return ints;
}

uint16_t HalfFromFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (bits >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (bits < 0x38800000u) {  // below 2^-14: subnormal half, 2^-24 a unit
    float magnitude;
    std::memcpy(&magnitude, &bits, sizeof bits);
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24f)));
  }
  const uint32_t rounded = bits + 0xfffu + ((bits >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float FloatFromHalf(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  uint32_t bits;
  if (magnitude >= 0x7c00u) {
    bits = sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13);
  } else if (magnitude >= 0x400u) {
    bits = sign | ((magnitude << 13) + 0x38000000u);
  } else {
    const float small = static_cast<float>(magnitude) * 0x1p-24f;
    std::memcpy(&bits, &small, sizeof bits);
    bits |= sign;
  }
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

uint16_t BFloatFromFloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu, sign = bits & 0x80000000u;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  if (magnitude < 0x00800000u) return static_cast<uint16_t>(sign >> 16);
  // Round to nearest even: adds half a unit in the last remaining place, less one if that place is
  // even.
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float FloatFromBFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

}  // namespace kiln
