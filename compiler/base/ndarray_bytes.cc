// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/ndarray_bytes.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"

namespace kiln {
namespace {

constexpr uint64_t kMagic = 0xDD5E40F096B4A13Fu;
constexpr int32_t kDeviceCpu = 1;

// DLDataTypeCode. A bool is an unsigned integer of one bit.
constexpr uint8_t kCodeInt = 0;
constexpr uint8_t kCodeUInt = 1;
constexpr uint8_t kCodeFloat = 2;

template <typename T>
void Append(T value, std::string& out) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
  }
}

template <typename T>
absl::StatusOr<T> Take(absl::string_view& bytes) {
  if (bytes.size() < sizeof(T)) {
    return absl::InvalidArgumentError("serialized tensor: found the end, wanted more bytes");
  }
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  bytes.remove_prefix(sizeof(T));
  return static_cast<T>(value);
}

uint8_t CodeOf(DType dtype) {
  if (dtype.is_float()) return kCodeFloat;
  return dtype.is_int() ? kCodeInt : kCodeUInt;
}

absl::StatusOr<DType> DTypeOf(uint8_t code, uint8_t bits, uint16_t lanes) {
  if (lanes == 1) {
    const bool is_whole_width = bits == 8 || bits == 16 || bits == 32 || bits == 64;
    if (code == kCodeInt && is_whole_width) return DType::Int(bits);
    if (code == kCodeUInt && is_whole_width) return DType::UInt(bits);
    if (code == kCodeUInt && bits == 1) return DType::Bool();
    if (code == kCodeFloat && is_whole_width && bits != 8) return DType::Float(bits);
  }
  return absl::UnimplementedError(absl::StrCat("serialized tensor: dtype with code ", code, ", ",
                                               bits, " bits and ", lanes, " lanes"));
}

absl::StatusOr<TensorType> TakeType(absl::string_view& bytes) {
  KILN_ASSIGN_OR_RETURN(const int32_t rank, Take<int32_t>(bytes));
  KILN_ASSIGN_OR_RETURN(const uint8_t code, Take<uint8_t>(bytes));
  KILN_ASSIGN_OR_RETURN(const uint8_t bits, Take<uint8_t>(bytes));
  KILN_ASSIGN_OR_RETURN(const uint16_t lanes, Take<uint16_t>(bytes));
  TensorType type;
  KILN_ASSIGN_OR_RETURN(type.dtype, DTypeOf(code, bits, lanes));
  if (rank < 0 || rank > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("serialized tensor: found rank ", rank, ", wanted 0 to ", kMaxRank));
  }
  for (int32_t i = 0; i < rank; ++i) {
    KILN_ASSIGN_OR_RETURN(const int64_t extent, Take<int64_t>(bytes));
    type.shape.push_back(extent);
  }
  KILN_RETURN_IF_ERROR(Annotate(CheckTensorType(type), "serialized tensor: "));
  return type;
}

}  // namespace

void AppendNDArray(const Tensor& tensor, std::string& out) {
  const TensorType& type = tensor.type();
  Append(kMagic, out);
  Append(uint64_t{0}, out);
  Append(kDeviceCpu, out);
  Append(int32_t{0}, out);
  Append(static_cast<int32_t>(type.rank()), out);
  Append(CodeOf(type.dtype), out);
  Append(type.dtype.bits, out);
  Append(uint16_t{1}, out);
  for (int64_t extent : type.shape) Append(extent, out);
  Append(static_cast<int64_t>(tensor.bytes().size()), out);
  out += tensor.bytes();
}

absl::StatusOr<Tensor> TakeNDArray(absl::string_view& bytes) {
  KILN_ASSIGN_OR_RETURN(const uint64_t magic, Take<uint64_t>(bytes));
  if (magic != kMagic) {
    return absl::InvalidArgumentError(
        absl::StrFormat("serialized tensor: found 0x%016x, wanted 0x%016x", magic, kMagic));
  }
  // Reserved word, device type and device number.
  KILN_RETURN_IF_ERROR(Take<uint64_t>(bytes).status());
  KILN_RETURN_IF_ERROR(Take<uint64_t>(bytes).status());
  KILN_ASSIGN_OR_RETURN(TensorType type, TakeType(bytes));
  KILN_ASSIGN_OR_RETURN(const int64_t num_bytes, Take<int64_t>(bytes));
  if (num_bytes != type.num_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("serialized tensor: found ", num_bytes,
                                                   " bytes of data, wanted ", type.num_bytes(),
                                                   " for ", type.ToString()));
  }
  if (static_cast<uint64_t>(num_bytes) > bytes.size()) {
    return absl::InvalidArgumentError(absl::StrCat("serialized tensor: found ", bytes.size(),
                                                   " bytes of data, wanted ", num_bytes));
  }
  Tensor tensor(std::move(type), std::string(bytes.substr(0, static_cast<size_t>(num_bytes))));
  bytes.remove_prefix(static_cast<size_t>(num_bytes));
  return tensor;
}

}  // namespace kiln
